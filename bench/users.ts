import { readFile } from 'node:fs/promises'
import { unzipDocument } from '@vigia/sefaz/distribution'
import type { CorpusDocZip } from './corpus.ts'
import { type LoadClient, runLoad } from './load.ts'
import { report } from './measure.ts'
import { startTenants, type Tenants } from './tenants.ts'

// Fifty people at once, each in a workspace and with a session of their own, each sending the next request as soon as the last has its
// response: the screens that they open, pages anywhere, searches, printing. Nothing may fail.
const users = 50
const seconds = 120
const large = { documents: 100_000, companies: 10, suppliers: 20_000, currentMonth: 40_000, lastMonth: 10_000 }
const small = { documents: 1_000, companies: 2, suppliers: 300, currentMonth: 60, lastMonth: 60 }

const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const note = (JSON.parse(await readFile(corpora.generated!, 'utf8')) as CorpusDocZip[]).find(
  ({ base64 }) => unzipDocument(Buffer.from(base64, 'base64')).indexOf('<nfeProc') >= 0,
)!

await using api = await startTenants(Array.from({ length: users }, (_, index) => (index === 0 ? large : small)))
const clients: LoadClient[] = []
for (const [index, tenant] of api.tenants.entries()) clients.push(await clientOf(tenant, index === 0 ? large : small))
const stats = await runLoad({ url: api.url, seconds, clients })
const all = Object.values(stats)
const sum = (pick: (one: (typeof all)[number]) => number) => all.reduce((total, one) => total + pick(one), 0)
report('users', {
  users,
  seconds,
  documents: { one: large.documents, others: small.documents },
  goal: { errors: 0 },
  errors: sum(({ errors }) => errors),
  requests: sum(({ requests }) => requests),
  perSecond: sum(({ perSecond }) => perSecond),
  ...stats,
})

async function clientOf(tenant: Tenants['tenants'][number], volume: typeof large): Promise<LoadClient> {
  const list = '/v1/api/DocumentosFiscais?TipoDFe=0'
  const pages = Math.floor((volume.documents * 0.8) / 50)
  const printable = await addPrintable(tenant)
  const somewhere = () => `${list}&PaginaAtual=${1 + Math.floor(Math.random() * pages)}`
  return {
    token: tenant.token,
    requests: [
      { kind: 'dashboard', path: '/v1/api/Dashboard' },
      { kind: 'list', path: list },
      ...Array.from({ length: 3 }, () => ({ kind: 'page', path: somewhere() })),
      { kind: 'companies', path: '/v1/api/Empresas/obter-empresas' },
      { kind: 'list', path: `${list}&Status=3` },
      { kind: 'search', path: `${list}&CampoPesquisa=papelaria` },
      { kind: 'search', path: `${list}&CampoPesquisa=1234` },
      { kind: 'list', path: '/v1/api/DocumentosFiscais?TipoDFe=2' },
      { kind: 'danfe', path: `/v1/api/DocumentosFiscais/danfe/${printable}` },
    ],
  }
}

// The newest document of the tenant gets the bytes of a real one.
async function addPrintable({ token, workspaceId }: Tenants['tenants'][number]): Promise<string> {
  const newest = `select d.company_id, d.nsu from document d where d.workspace_id = $1 and d.type = 0 and d.complete order by d.issued_at desc, d.id desc limit 1`
  await api.owner.query(
    `insert into receipt (workspace_id, company_id, service, codec, nsu, schema, unread, content)
     select $1, company_id, 0, 0, nsu, $2, false, $3 from (${newest}) n`,
    [workspaceId, note.schema, Buffer.from(note.base64, 'base64')],
  )
  const response = await fetch(new URL('/v1/api/DocumentosFiscais?TipoDFe=0', api.url), {
    headers: { authorization: `Bearer ${token}` },
  })
  const { data } = (await response.json()) as { data: { items: { idDfe: string; notaCompleta: boolean }[] } }
  return data.items.find(({ notaCompleta }) => notaCompleta)!.idDfe
}
