import type { ESTree, Plugin } from 'vite'

// Properties of a route for the browser; schemas are only for the server, which validates calls.
const readByPages = ['method', 'path', 'access', 'shared', 'produces']

// Disables the eval test of zod, because the content security policy reports each attempt.
const noEval = `import { config as configZod } from 'zod/v4/core'
configZod({ jitless: true })
`

// Modules of the contract have no side effects, but the bundler cannot know that, because making a schema is a call. Marked as pure, unused
// schemas are dropped: a page gets the addresses that it calls and the forms that it shows, and zod is loaded with the first form. Without
// this the list needs 26 kB more before it is rendered.
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
