import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { newClient } from '../tests/support/client.ts'
import { publish, type readTemplates } from './publish.ts'
import type { Tenants } from './tenants.ts'

/** Companies of a workspace whose documents the authority holds. */
export interface Captured {
  /** Has so many documents wait for each company; nobody asks for them yet. */
  add(each: number): Promise<void>
  /** Lets all companies be asked for now. */
  begin(): Promise<void>
  /** From now on nothing is asked for, judged nor read any more; returns how many documents have come since it began. */
  end(): Promise<number>
  /**
   * How long a document that the authority has just got takes until the list shows it, and from then on until it is judged; of both what has passed by `endsAt`
   * (of `performance.now`) where it takes longer.
   */
  time(endsAt: number): Promise<{ capture: Taken; alert: Taken | null }>
}

interface Taken {
  ms: number
  isOver: boolean
}

const senha = 'segredo'
const everyMs = 5
let published = 0

/** As many more companies of a workspace, as if each had been registered with the certificate of the first; their CNPJs begin with `base`. */
export async function registerCaptured(
  { url, owner, simulator }: Tenants,
  { token, workspaceId }: Tenants['tenants'][number],
  templates: Awaited<ReturnType<typeof readTemplates>>,
  { base, companies }: { base: number; companies: number },
): Promise<Captured> {
  const cnpjs = Array.from({ length: companies }, (_, index) => cnpjOf(base, index))
  const issueCertificate = async ({ cnpj = '', nome = '' }) => {
    const file = await simulator!.issueCertificate({ cnpj, nome, uf: 'SP' }, senha)
    return new Uint8Array(await file.arrayBuffer())
  }
  // An office may have as many companies as it likes.
  await owner.query('update workspace set plan = 3 where id = $1', [workspaceId])
  await (await newClient({ url, simulator: { issueCertificate } }, { token })).register(cnpjs[0]!)
  await owner.query(
    `with first as (select workspace_id, name, search, uf from company where workspace_id = $1 and cnpj = $2),
          filial as (insert into company (workspace_id, cnpj, name, search, uf)
                     select workspace_id, unnest($3::text[]), name, search, uf from first returning workspace_id, id, cnpj),
          line as (insert into capture_line (service, cnpj, next_at) select 0, cnpj, now() + interval '1 day' from filial returning id, cnpj)
     insert into capture_subscription (line_id, workspace_id, company_id, proved_at)
     select l.id, f.workspace_id, f.id, now() from line l join filial f using (cnpj)`,
    [workspaceId, cnpjs[0], cnpjs.slice(1)],
  )
  const ask = async (at: string) => {
    await owner.query(
      `update capture_line set next_at = now() + $2::interval, allowed_at = now() where service = 0 and cnpj = any ($1)`,
      [cnpjs, at],
    )
  }
  const versionOf = async () => {
    const { rows } = await owner.query<{ version: string }>(
      'select version from change_position where workspace_id = $1',
      [workspaceId],
    )
    return Number(rows[0]?.version ?? 0)
  }
  const until = async (endsAt: number, isTrue: string, values: unknown[]): Promise<Taken> => {
    const began = performance.now()
    for (;;) {
      const { rows } = await owner.query<{ is: boolean }>(`select ${isTrue} as is`, values)
      const ms = performance.now() - began
      if (rows[0]!.is || performance.now() > endsAt) return { ms, isOver: rows[0]!.is }
      await pause(everyMs)
    }
  }
  let before = 0
  return {
    async add(each) {
      for (const cnpj of cnpjs)
        for (let document = 0; document < each; document++)
          await publish(simulator!.port, cnpj, templates[++published % templates.length]!, published)
    },
    async begin() {
      before = await versionOf()
      await ask('0 seconds')
    },
    async end() {
      await ask('1 day')
      const came = (await versionOf()) - before
      for (const table of ['alert_due', 'alert_unjudged', 'content_unread'])
        await owner.query(`delete from ${table} where workspace_id = $1`, [workspaceId])
      // Without its lease a turn that is under way writes nothing.
      for (const table of ['alert_position', 'content_position'])
        await owner.query(
          `update ${table} a set version = p.version, walked_type = null, next_at = 'infinity', lease_until = null
             from change_position p where p.workspace_id = a.workspace_id and a.workspace_id = $1`,
          [workspaceId],
        )
      return came
    },
    async time(endsAt) {
      const chave = await publish(simulator!.port, cnpjs[0]!, templates[++published % templates.length]!, published)
      await ask('0 seconds')
      const isThere = 'exists (select from document where workspace_id = $1 and chave = $2)'
      const capture = await until(endsAt, isThere, [workspaceId, chave])
      if (!capture.isOver) return { capture, alert: null }
      const isJudged = 'exists (select from alert_position where workspace_id = $1 and version >= $2)'
      return { capture, alert: await until(endsAt, isJudged, [workspaceId, await versionOf()]) }
    },
  }
}

function cnpjOf(base: number, index: number): string {
  const first12 = String(base) + String(index + 1).padStart(4, '0')
  return first12 + cnpjCheckDigits(first12)
}

const pause = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms))
