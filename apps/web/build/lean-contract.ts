import type { ESTree, Plugin } from 'vite'

// What a page reads of a route; the rest is for the server, which checks every call.
const readByPages = ['method', 'path', 'access', 'produces']

// The content security policy forbids eval, which zod would otherwise try with the first schema, and be reported. It must be told before.
const noEval = `import { config as configZod } from 'zod/v4/core'
configZod({ jitless: true })
`

// The contract declares and does nothing. The bundler cannot know that, because making a schema is a call, and would keep them all; told so,
// a page carries the addresses that it calls and the forms that it fills in, and zod comes with the first form.
export function leanContract(): Plugin {
  return {
    name: 'lean-contract',
    apply: 'build',
    transform: {
      filter: { id: /\/packages\/contract\/[\w-]+\.ts$/ },
      handler(code, id) {
        const made = this.parse(code).body.flatMap((statement) => {
          const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
          const declarators = declaration?.type === 'VariableDeclaration' ? declaration.declarations : []
          return declarators.flatMap(({ init }) =>
            init?.type === 'CallExpression' || init?.type === 'ObjectExpression' ? [init] : [],
          )
        })
        const lean = made.reduceRight((text, init) => {
          const { start, end } = init
          const written = leanRoute(code, init) ?? `/*#__PURE__*/ (() => (${code.slice(start, end)}))()`
          return text.slice(0, start) + written + text.slice(end)
        }, code)
        return /\/(forms|fields)\.ts$/.test(id) ? noEval + lean : lean
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
