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
  const account = { nome: 'Demonstração', email: login.email, senha: login.password, tipoPlano: 2 }
  const signedUp = await call(apiUrl, 'POST', '/v1/api/Usuarios', { json: account })
  const session = await call(apiUrl, 'POST', '/v1/api/Auth', { json: { email: login.email, senha: login.password } })
  const token = text(session.data, 'token')
  if (!session.success || !token) {
    const reason = signedUp.success ? session.message : signedUp.message
    return say(`O login de demonstração não abriu (${reason}): DEMO_PASSWORD mudou desde a primeira vez?`)
  }

  const known = await call(apiUrl, 'GET', '/v1/api/Empresas/obter-empresas', { token })
  const rows = Array.isArray(known.data) ? known.data : []
  const registered = new Set(rows.map((row) => text(row, 'cnpj')?.replace(/[^0-9A-Z]/gi, '')))
  const missing = companies.filter(({ cnpj }) => !registered.has(cnpj))
  if (missing.length > 0) say('Cadastrando as empresas de demonstração…')
  for (const company of missing) {
    const form = new FormData()
    form.append('Certificado', await simulator.issueCertificate(company, senha), `${company.cnpj}.pfx`)
    form.append('Senha', senha)
    const created = await call(apiUrl, 'POST', '/v1/api/Empresas', { token, form })
    if (!created.success) say(`${company.nome} não foi cadastrada: ${created.message}`)
  }
}

interface Answer {
  success: boolean
  message: string
  data: unknown
}

async function call(
  apiUrl: string,
  method: string,
  path: string,
  { token, json, form }: { token?: string; json?: unknown; form?: FormData },
): Promise<Answer> {
  const headers = new Headers({ accept: 'application/json' })
  if (token) headers.set('authorization', `Bearer ${token}`)
  if (json) headers.set('content-type', 'application/json')
  const response = await fetch(new URL(path, apiUrl), {
    method,
    headers,
    body: form ?? (json ? JSON.stringify(json) : null),
  })
  const body: unknown = await response.json()
  return {
    success: response.ok && typeof body === 'object' && body !== null && 'success' in body && body.success === true,
    message: text(body, 'message') ?? `HTTP ${response.status}`,
    data: typeof body === 'object' && body !== null && 'data' in body ? body.data : null,
  }
}

function text(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const found: unknown = Object.entries(value).find(([name]) => name === key)?.[1]
  return typeof found === 'string' ? found : undefined
}
