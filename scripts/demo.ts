import { login as logIn, signUp } from '@vigia/contract/accounts'
import { createCompany, listCompanies } from '@vigia/contract/companies'
import type { Envelope, RouteData, RouteDefinition, RouteRequest } from '@vigia/contract/route'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import type { SimulatedCompany, SimulatorProcess } from './simulator-process.ts'

/** The companies of the workspace that fills itself: two of the old numbers and one with letters. */
export const companies: readonly SimulatedCompany[] = [
  { cnpj: '12ABC34501DE35', nome: 'MERCADO BOA VISTA LTDA', uf: 'PR' },
  { cnpj: withCheckDigits('992345670001'), nome: 'PADARIA AURORA LTDA', uf: 'SP' },
  { cnpj: withCheckDigits('994567890001'), nome: 'TRANSPORTES SERRA AZUL LTDA', uf: 'MG' },
]

const senha = 'certificado-de-demonstracao'

function withCheckDigits(first12: string): string {
  return first12 + cnpjCheckDigits(first12)
}

/** Signs up and registers the companies as any client would. What exists already stays as it is. */
export async function seedDemo(
  apiUrl: string,
  login: { email: string; password: string },
  simulator: Pick<SimulatorProcess, 'issueCertificate'>,
  say: (text: string) => void,
): Promise<void> {
  const { email, password } = login
  const account = { nome: 'Demonstração', email, senha: password, tipoPlano: 2 } as const
  const signedUp = await call(apiUrl, signUp, { body: account })
  const session = await call(apiUrl, logIn, { body: { email, senha: password } })
  if (!session.data) {
    const reason = signedUp.success ? session.message : signedUp.message
    return say(`O login de demonstração não abriu (${reason}): DEMO_PASSWORD mudou desde a primeira vez?`)
  }

  const { token } = session.data
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
