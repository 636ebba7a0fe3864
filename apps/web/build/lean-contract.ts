import type { ESTree, Plugin } from 'vite'

// What a page reads of a route; the rest is for the server, which checks every call.
const readByPages = ['method', 'path', 'access', 'produces']

// The contract declares and does nothing. The bundler cannot know that, because making a schema is a call, and would keep them all; told so,
// a page carries the addresses that it calls and the forms that it fills in, and zod comes with the first form.
export function leanContract(): Plugin {
  return {
    name: 'lean-contract',
    apply: 'build',
    transform: {
      filter: { id: /\/packages\/contract\/[\w-]+\.ts$/ },
      handler(code) {
        const made = this.parse(code).body.flatMap((statement) => {
          const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
          const declarators = declaration?.type === 'VariableDeclaration' ? declaration.declarations : []
          return declarators.flatMap(({ init }) =>
            init?.type === 'CallExpression' || init?.type === 'ObjectExpression' ? [init] : [],
          )
        })
        return made.reduceRight((text, init) => {
          const { start, end } = init
          const lean = leanRoute(code, init) ?? `/*#__PURE__*/ (() => (${code.slice(start, end)}))()`
          return text.slice(0, start) + lean + text.slice(end)
        }, code)
      },
    },
  }
}

function leanRoute(code: string, made: ESTree.Expression): string | null {
  if (made.type !== 'CallExpression' || made.callee.type !== 'Identifier' || made.callee.name !== 'route') return null
  const [definition] = made.arguments
  if (definition?.type !== 'ObjectExpression') return null
  const read = definition.properties.flatMap((property) =>
    property.type === 'Property' && property.key.type === 'Identifier' && readByPages.includes(property.key.name)
      ? [code.slice(property.start, property.end)]
      : [],
  )
  return `{ ${read.join(', ')} }`
}
