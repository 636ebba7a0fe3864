import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { createDatabase } from '../../../../tests/support/database.ts'
import type { Arrival } from '../../documents/arrival.ts'
import { receive } from '../../documents/receive.ts'
import { documentRoutes } from '../../documents/routes.ts'
import { contextOf } from '../../events/testing.ts'
import type { Context } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { serveRoutes } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { startQueue } from '../../platform/jobs/jobs.ts'
import { newWorkspace, openTestSession } from '../../platform/testing.ts'
import { leavingRoutes } from './leaving.ts'
import { exportJobs } from './worker.ts'

export type Exports = Awaited<ReturnType<typeof openExports>>

/** The calls about documents over loopback, with a worker that makes exports, on a database of their own; `owner` sees all of its rows. */
export async function openExports() {
  const database = await createDatabase()
  const owner = new pg.Client({ connectionString: database.url })
  await owner.connect()
  const opened = contextOf(database.url)
  const ctx: Context = { ...opened, limited: opened.db }
  let session: Session
  const app = await serveRoutes(ctx, [...documentRoutes(async () => []), ...leavingRoutes], async () => session)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  let worker = await startQueue(ctx, { jobs: exportJobs })

  return {
    database,
    ctx,
    owner,
    url,
    /** Makes all calls from now on in a workspace of its own, with a login of its own. Returns its number. */
    async enter(): Promise<number> {
      const workspaceId = await newWorkspace(ctx.db)
      session = await openTestSession(ctx.db, workspaceId)
      return workspaceId
    },
    /** Session of the calls; a new one applies from the next call on. */
    get session(): Session {
      return session
    },
    set session(other: Session) {
      session = other
    },
    stopWorker: () => worker[Symbol.asyncDispose](),
    /** Replaces a stopped worker. */
    async startWorker(more: Partial<Context> = {}): Promise<void> {
      worker = await startQueue({ ...ctx, ...more }, { jobs: exportJobs })
    },
    store: (companyId: number, service: 'nfe' | 'cte', arrivals: Arrival[], cnpj = '12ABC34501DE35') =>
      inWorkspace(ctx, session.workspaceId, (ctx) =>
        receive(ctx, { workspaceId: session.workspaceId, companyId, cnpj }, service, arrivals),
      ),
    async call<T>(method: 'GET' | 'POST', path: string, payload?: object) {
      const headers = { authorization: `Bearer ${'x'.repeat(43)}` }
      const response = await app.inject({ method, url: path, headers, ...(payload && { payload }) })
      return { status: response.statusCode, body: response.json() as { data: T; message: string } }
    },
    async download(address: string, headers: Record<string, string> = {}) {
      const response = await fetch(url + address, { headers })
      const bytes = Buffer.from(await response.arrayBuffer())
      return { status: response.status, headers: response.headers, bytes }
    },
    async [Symbol.asyncDispose]() {
      // A client may hold one that it never used.
      app.server.closeAllConnections()
      await app.close()
      await worker[Symbol.asyncDispose]()
      await owner.end()
      await ctx.db.destroy()
      await database[Symbol.asyncDispose]()
    },
  }
}
