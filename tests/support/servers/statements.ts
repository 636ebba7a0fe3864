import { appendFileSync } from 'node:fs'
import pg from 'pg'

/** How a statement of the product is carried out on a cluster. */
export interface Statement {
  text: string
  /**
   * `local`: nothing of a workspace; `router`: one task; `steps`: tasks of one server one after the other; `many`: several; `error`: refused; `warning`: what a
   * server warned of.
   */
  how: 'local' | 'router' | 'steps' | 'many' | 'error' | 'warning'
  detail: string
}

/** Has every statement explained right before it is first carried out, on its connection and with its parameters, until disposed. */
export function watchStatements(note: (statement: Statement) => void): Disposable {
  type Query = (this: pg.Client, query: unknown, values?: unknown[], ...rest: unknown[]) => Promise<unknown> | undefined
  const before = pg.Client.prototype.query
  const send = before as unknown as Query
  const seen = new Set<string>()
  const heard = new WeakSet<pg.Client>()
  const query: Query = function (given, values, ...rest) {
    const config = typeof given === 'string' ? { text: given, values } : (given as pg.QueryConfig)
    const { text } = config
    if (rest.length > 0 || typeof values === 'function' || typeof text !== 'string' || !this.user?.startsWith('vigia_'))
      return send.call(this, given, values, ...rest)
    if (!heard.has(this))
      this.on('notice', ({ severity, message, code }) => {
        if (severity === 'WARNING') note({ text: message ?? '', how: 'warning', detail: code ?? '' })
      })
    heard.add(this)
    const noteError = (error: unknown) => {
      const { code, message } = error as pg.DatabaseError
      note({ text, how: 'error', detail: `${code} ${message}` })
      throw error
    }
    const carryOut = async () => send.call(this, given, values)?.catch(noteError)
    if (seen.has(text) || !/^\s*(select|insert|update|delete|with|merge)\b/i.test(text)) return carryOut()
    seen.add(text)
    return (async () => {
      const explained = await send.call(this, `explain (costs off, verbose) ${text}`, config.values)?.catch(noteError)
      const { rows } = explained as pg.QueryResult<{ 'QUERY PLAN': string }>
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      note({ text, how: howOf(plan), detail: plan })
      return carryOut()
    })()
  }
  pg.Client.prototype.query = query as never
  return {
    [Symbol.dispose]() {
      pg.Client.prototype.query = before
    },
  }
}

function howOf(plan: string): Statement['how'] {
  if (!/Citus|Distributed Subplan/.test(plan)) return 'local'
  const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, n]) => Number(n))
  if (tasks.some((n) => n > 1)) return 'many'
  return /Distributed Subplan|Citus INSERT/.test(plan) ? 'steps' : 'router'
}

// As a set-up file of Vitest, for a run with `CITUS=1`.
const file = process.env.CITUS_STATEMENTS
if (file) watchStatements((statement) => appendFileSync(file, `${JSON.stringify(statement)}\n`))
