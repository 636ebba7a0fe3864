import { login as logIn, signUp } from '@vigia/contract/accounts'
import { createCompany, listCompanies } from '@vigia/contract/companies'
import type { Envelope, RouteData, RouteDefinition, RouteRequest } from '@vigia/contract/route'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { findPlan } from '@vigia/server/insights/plans/usage'
import type { ReachSigner } from '@vigia/server/open'
import { type Config, grantPlan, operate, shareAccount } from '@vigia/server/start'
import type { SimulatedCompany, SimulatorProcess } from './simulator-process.ts'

/** The companies of the demonstration: two with the old numbers and one with letters in its CNPJ. */
export const companies: readonly SimulatedCompany[] = [
  { cnpj: '12ABC34501DE35', nome: 'MERCADO BOA VISTA LTDA', uf: 'PR' },
  { cnpj: withCheckDigits('992345670001'), nome: 'PADARIA AURORA LTDA', uf: 'SP' },
  { cnpj: withCheckDigits('994567890001'), nome: 'TRANSPORTES SERRA AZUL LTDA', uf: 'MG' },
]

const senha = 'certificado-de-demonstracao'

function withCheckDigits(first12: string): string {
  return first12 + cnpjCheckDigits(first12)
}

/** Signs up, makes the account a shared one, and registers the companies as any client would. What exists already stays as it is. */
export async function seedDemo(
  apiUrl: string,
  config: Config,
  login: { email: string; password: string },
  simulator: Pick<SimulatorProcess, 'issueCertificate'>,
  say: (text: string) => void,
  reachSigner?: ReachSigner,
): Promise<void> {
  const token = await enter(apiUrl, login, say)
  if (token === null) return
  await openToAll(config, login.email, reachSigner)
  const known = await call(apiUrl, listCompanies, { token })
  const registered = new Set(known.data?.map(({ cnpj }) => cnpj))
  const missing = companies.filter(({ cnpj }) => !registered.has(cnpj))
  if (missing.length > 0) say('Cadastrando as empresas de demonstração…')
  for (const company of missing) {
    const form = new FormData()
    form.append('Certificado', await simulator.issueCertificate(company, senha), `${company.cnpj}.pfx`)
    form.append('Senha', senha)
    const created = await call(apiUrl, createCompany, { token, form })
    if (!created.success) say(`${company.nome} não foi cadastrada: ${created.message}`)
  }
}

// The password is published. The plan has no end, unless the operator gave or ended one before.
async function openToAll(config: Config, email: string, reachSigner?: ReachSigner): Promise<void> {
  const open = async (ctx: Parameters<Parameters<typeof operate>[1]>[0]) => {
    await shareAccount(ctx, email)
    const listed = await findPlan(ctx, email)
    const hadPlan = listed?.plan.situation === 'active' || listed?.plan.paidUntil !== null
    if (listed && !hadPlan) await grantPlan(ctx, email, { type: 3, until: null })
  }
  await operate(config, open, () => {}, reachSigner)
}

// The login first: a sign-up with an e-mail that is taken succeeds too, and sends an e-mail to its owner.
async function enter(
  apiUrl: string,
  { email, password }: { email: string; password: string },
  say: (text: string) => void,
): Promise<string | null> {
  const credentials = { email, senha: password }
  const known = await call(apiUrl, logIn, { body: credentials })
  if (known.data) return known.data.token
  const signedUp = await call(apiUrl, signUp, { body: { nome: 'Demonstração', ...credentials, tipoPlano: 2 } })
  const session = await call(apiUrl, logIn, { body: credentials })
  if (session.data) return session.data.token
  say(
    signedUp.success
      ? `O login de demonstração não abriu (${session.message}): a conta de ${email} já existe com outra senha. A senha mudou pelo site, ou DEMO_PASSWORD mudou desde a primeira vez? Nada foi alterado.`
      : `O login de demonstração não foi criado: ${signedUp.message}`,
  )
  return null
}

async function call<R extends RouteDefinition>(
  apiUrl: string,
  route: R,
  { token, body, form }: { token?: string; body?: RouteRequest<R>['body']; form?: FormData },
): Promise<Envelope<RouteData<R>>> {
  const headers = new Headers({ accept: 'application/json' })
  if (token) headers.set('authorization', `Bearer ${token}`)
  if (body) headers.set('content-type', 'application/json')
  const response = await fetch(new URL(route.path, apiUrl), {
    method: route.method,
    headers,
    body: form ?? (body ? JSON.stringify(body) : null),
  })
  return (await response.json()) as Envelope<RouteData<R>>
}
