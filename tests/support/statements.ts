import { appendFileSync } from 'node:fs'
import pg from 'pg'

/** How a statement of the product is carried out on a cluster. */
export interface Statement {
  text: string
  /** `local`: nothing of a workspace; `router`: one task; `steps`: tasks of one server one after the other; `many`: several; `error`: refused. */
  how: 'local' | 'router' | 'steps' | 'many' | 'error'
  detail: string
}

const file = process.env.CITUS_STATEMENTS
const seen = new Set<string>()

// Every statement that a run sends is explained right before it is first carried out, on the same connection, with the same parameters.
if (file) {
  type Query = (this: pg.Client, query: unknown, values?: unknown[], ...rest: unknown[]) => Promise<unknown> | undefined
  const send = pg.Client.prototype.query as unknown as Query
  const note = (statement: Statement) => appendFileSync(file, `${JSON.stringify(statement)}\n`)
  const query: Query = function (given, values, ...rest) {
    const config = typeof given === 'string' ? { text: given, values } : (given as pg.QueryConfig)
    const { text } = config
    if (rest.length > 0 || typeof values === 'function' || typeof text !== 'string' || this.user === 'vigia')
      return send.call(this, given, values, ...rest)
    const carryOut = async () => {
      try {
        return await send.call(this, given, values)
      } catch (error) {
        const { code, message } = error as pg.DatabaseError
        note({ text, how: 'error', detail: `${code} ${message}` })
        throw error
      }
    }
    if (seen.has(text) || !/^\s*(select|insert|update|delete|with|merge)\b/i.test(text)) return carryOut()
    seen.add(text)
    return (async () => {
      let plan: pg.QueryResult<{ 'QUERY PLAN': string }>
      try {
        plan = (await send.call(this, `explain (costs off) ${text}`, config.values)) as typeof plan
      } catch (error) {
        const { code, message } = error as pg.DatabaseError
        note({ text, how: 'error', detail: `explain: ${code} ${message}` })
        throw error
      }
      const lines = plan.rows.map((row) => String(row['QUERY PLAN'])).join('\n')
      const tasks = [...lines.matchAll(/Task Count: (\d+)/g)].map(([, n]) => Number(n))
      const citus = /Citus|Distributed Subplan/.test(lines)
      const one = tasks.every((n) => n === 1)
      const how = !citus ? 'local' : !one ? 'many' : /Subplan|INSERT/.test(lines) ? 'steps' : 'router'
      note({ text, how, detail: how === 'many' ? lines.slice(0, 400) : '' })
      return carryOut()
    })()
  }
  pg.Client.prototype.query = query as never
}
