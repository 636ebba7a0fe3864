import { start } from '@vigia/server/start'
import pg from 'pg'
import { type Client, newClient } from './client.ts'
import { type Product, startProduct } from './product.ts'

/** Somebody with a workspace, a company and captured documents. */
export interface Member {
  account: { nome: string; email: string; senha: string; tipoPlano: number }
  company: { cnpj: string; nome: string; uf: string }
  client: Client
  token: string
  companyId: string
  /** Ids of documents. */
  nfe: string[]
  cte: string[]
}

export interface TwoWorkspaces {
  product: Product
  /** A connection of the owner of the tables, who sees and moves everything. */
  owner: pg.Client
  mine: Member
  theirs: Member
  [Symbol.asyncDispose](): Promise<void>
}

/** A product with two workspaces that have captured documents; `working`: the workers go on afterwards. */
export async function startTwoWorkspaces({ working }: { working: boolean }): Promise<TwoWorkspaces> {
  await using stack = new AsyncDisposableStack()
  const companies = [
    { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' },
    { cnpj: '44555666000181', nome: 'SEGREDO DA CONCORRENTE LTDA', uf: 'SC' },
  ]
  // Each note can still be answered with Ciência.
  const since = Date.now() - 8 * 86_400_000
  const product = stack.use(
    // An hour that outlasts a file.
    await startProduct({
      roles: ['api'],
      hourMs: 600_000,
      simulator: { seed: 17, since, documentsEach: 60, companies },
    }),
  )
  const owner = new pg.Client({ connectionString: product.databaseUrl })
  await owner.connect()
  stack.defer(() => owner.end())
  const worker = await start(product.config, { roles: ['worker'] })
  const stopped = new AsyncDisposableStack()
  stopped.use(worker)
  stack.defer(() => stopped.disposeAsync())
  const [mine, theirs] = [
    await join(product, 'Ana Souza', 'ana@exemplo.com.br', companies[0]!),
    await join(product, 'Bruno da Concorrente', 'bruno@segredo.com.br', companies[1]!),
  ]
  if (!working) await stopped.disposeAsync()
  const owned = stack.move()
  return { product, owner, mine, theirs, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function join(product: Product, nome: string, email: string, company: Member['company']): Promise<Member> {
  const account = { nome, email, senha: 'segredo1', tipoPlano: 2 }
  const client = await newClient(product, account)
  const companyId = await client.register(company.cnpj, company.nome)
  await client.captured({ timeoutMs: 50_000 })
  const [nfe, cte] = [await client.list('TipoDFe=0'), await client.list('TipoDFe=2')]
  return {
    account,
    company,
    client,
    token: await logIn(product, account),
    companyId,
    nfe: nfe.map(({ idDfe }) => idDfe),
    cte: cte.map(({ idDfe }) => idDfe),
  }
}

/** A token of a new session. */
export async function logIn({ url }: Pick<Product, 'url'>, account: { email: string; senha: string }): Promise<string> {
  const response = await fetch(new URL('/v1/api/Auth', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: account.email, senha: account.senha }),
  })
  const body = (await response.json()) as { data: { token: string } | null; message: string }
  if (!body.data) throw new Error(body.message)
  return body.data.token
}
