import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { login as logIn, logout } from '@vigia/contract/accounts'
import { listAlerts, setAlertState } from '@vigia/contract/alerts'
import { saveAnswerRule, saveTwoPeople } from '@vigia/contract/answer-rules'
import { addWebhook, changeWebhook } from '@vigia/contract/changes'
import { createCompany, listCompanies, updateCompany } from '@vigia/contract/companies'
import { type DocumentRow, listDocuments, selectDocuments } from '@vigia/contract/documents'
import { markPaid, selectInstallments } from '@vigia/contract/installments'
import { addKey } from '@vigia/contract/keys'
import { manifestNfe } from '@vigia/contract/manifestation'
import { addRemark, markChecked, markDone } from '@vigia/contract/remarks'
import type { Envelope, RouteData, RouteDefinition, RouteRequest } from '@vigia/contract/route'
import { acceptInvitation, invite, updateWorkspace } from '@vigia/contract/team'
import { findAccount, openSession } from '@vigia/server/accounts/sessions'
import { newLink } from '@vigia/server/companies/team/invitations'
import type { ReachSigner } from '@vigia/server/open'
import { type Config, createAccount, grantPlan, operate, shareAccount } from '@vigia/server/start'
import { clientes } from '@vigia/simulator/story/office'
import * as story from '@vigia/simulator/story/people'
import type { SimulatorProcess } from './simulator-process.ts'

/** The authority's side of the demonstration. */
export type DemoSimulator = Pick<SimulatorProcess, 'issueCertificate' | 'control'>

export interface Demo {
  /** What the office does once its documents have come; ends with a cancellation. Begun anew at each start. */
  goOn(signal: AbortSignal): Promise<void>
}

interface DemoOptions {
  apiUrl: string
  config: Config
  login: { email: string; password: string }
  simulator: DemoSimulator
  say: (text: string) => void
  reachSigner?: ReachSigner
}

type OperatingContext = Parameters<Parameters<typeof operate>[1]>[0]

const senha = 'certificado-de-demonstracao'
const dayMs = 86_400_000
const patienceMs = 300_000

/**
 * Opens the office of the story, or goes on with the one that is there: its owner, whose password nobody keeps, its people, the clients with
 * their certificates, and the login that is shared with visitors. Null: another account has that login.
 */
export async function openDemo(options: DemoOptions): Promise<Demo | null> {
  return operate(
    options.config,
    (ctx) => openOffice(ctx, options),
    () => {},
    options.reachSigner,
  )
}

async function openOffice(ctx: OperatingContext, { apiUrl, login, simulator, say }: DemoOptions): Promise<Demo | null> {
  const { dona } = story.escritorio
  const isNew = (await findAccount(ctx, dona.email)) === null
  if (isNew && (await findAccount(ctx, login.email))) {
    say(`O login de demonstração não foi criado: já há uma conta com o e-mail ${login.email}. Nada foi alterado.`)
    return null
  }
  if (isNew) {
    say('Abrindo o escritório de demonstração…')
    await createAccount(ctx, { name: dona.nome, email: dona.email })
    await grantPlan(ctx, dona.email, { type: 3, until: null })
  }
  const owner = { ...(await findAccount(ctx, dona.email))!, email: dona.email }
  const session = await openSession(ctx, owner, { address: '127.0.0.1', agent: '' })
  const office = caller(apiUrl, session!.token)
  const join = async (person: { nome: string; email: string; papel: 'fiscal' | 'administrador' }, senha: string) => {
    await office(invite, { body: { email: person.email, papel: person.papel } })
    const convite = await newLink(ctx, owner.workspaceId, person.email)
    await caller(apiUrl)(acceptInvitation, { body: { convite, nome: person.nome, senha, senhaNovamente: senha } })
    return (await caller(apiUrl)(logIn, { body: { email: person.email, senha } })).token
  }
  let asker: Call | null = null
  if (isNew) {
    await office(updateWorkspace, { body: { nome: story.escritorio.nome, exigeSegundoFator: false } })
    for (const [name, person] of Object.entries(story.pessoas)) {
      const token = await join(person, randomBytes(18).toString('base64url'))
      if (name === story.pedido.de) asker = caller(apiUrl, token)
    }
    await join({ ...story.visitante, email: login.email }, login.password)
    // From here on a visitor changes nothing of the office.
    await shareAccount(ctx, login.email)
  }
  await registerClients(office, simulator)
  if (isNew) await setUp(office)
  return { goOn: (signal) => goOn({ office, simulator, asker, signal }) }
}

type Call = ReturnType<typeof caller>

/** Makes calls that succeed, as the holder of a token; without one as anybody. */
export function caller(apiUrl: string, token?: string) {
  return async <R extends RouteDefinition>(
    route: R,
    { body, query, form }: { body?: RouteRequest<R>['body']; query?: Record<string, string>; form?: FormData } = {},
  ): Promise<RouteData<R>> => {
    const headers = new Headers({ accept: 'application/json' })
    if (token) headers.set('authorization', `Bearer ${token}`)
    if (body) headers.set('content-type', 'application/json')
    const url = new URL(`${route.path}?${new URLSearchParams(query)}`, apiUrl)
    const response = await fetch(url, {
      method: route.method,
      headers,
      body: form ?? (body ? JSON.stringify(body) : null),
    })
    const envelope = (await response.json()) as Envelope<RouteData<R>>
    if (!envelope.success) throw new Error(`${route.path}: ${envelope.message}`)
    return envelope.data as RouteData<R>
  }
}

async function registerClients(office: Call, simulator: DemoSimulator): Promise<void> {
  const known = new Map((await office(listCompanies)).map((company) => [company.cnpj, company]))
  for (const { cliente, ...validity } of story.certificados) {
    const { cnpj, nome, uf } = clientes[cliente]
    const company = known.get(cnpj)
    // Certificates that end count from today; one that has ended stays so.
    if (company && !('dias' in validity)) continue
    const lastsMs =
      'segundos' in validity ? validity.segundos * 1_000 : 'dias' in validity ? validity.dias * dayMs : null
    const expires = lastsMs === null ? undefined : Date.now() + lastsMs
    const file = await simulator.issueCertificate({ cnpj, nome, uf, expires }, senha)
    const form = new FormData()
    const prefix = company ? 'CertificadoDigital.' : ''
    form.append(`${prefix}Certificado`, file, `${cnpj}.pfx`)
    form.append(`${prefix}Senha`, senha)
    if (company) {
      form.append('IdEmpresa', company.id)
      form.append('RazaoSocial', company.razaoSocial)
      await office(updateCompany, { form })
    } else await office(createCompany, { form })
  }
}

async function setUp(office: Call): Promise<void> {
  const ids = new Map((await office(listCompanies)).map(({ cnpj, id }) => [cnpj, id]))
  for (const { permissoes, ...key } of story.chaves)
    await office(addKey, { body: { ...key, permissoes: [...permissoes] } })
  const webhook = { endereco: story.webhook.endereco, tipos: [...story.webhook.tipos] }
  const { idWebhook } = await office(addWebhook, { body: webhook })
  await office(changeWebhook, { body: { ...webhook, idWebhook, ativo: false } })
  for (const { nome, condicoes, resposta, ...of } of story.regras) {
    const idsEmpresa = 'cliente' in of ? [ids.get(clientes[of.cliente].cnpj)!] : undefined
    await office(saveAnswerRule, {
      body: { nome, resposta, condicoes: { ...condicoes, ...(idsEmpresa && { idsEmpresa }) } },
    })
  }
  await office(saveTwoPeople, { body: { valor: String(story.escritorio.duasPessoasDesde) } })
}

async function goOn({
  office,
  simulator,
  asker,
  signal,
}: {
  office: Call
  simulator: DemoSimulator
  asker: Call | null
  signal: AbortSignal
}) {
  const { surprise } = await simulator.control<{ surprise: string }>('GET', 'story')
  const note = await untilThere(signal, () => findNote(office, { CampoPesquisa: surprise }))
  await untilThere(signal, async () => {
    const lines = (await office(listCompanies)).flatMap(({ captura }) => captura ?? [])
    return lines.every(({ ultimoNsu, maxNsu }) => Number(maxNsu) > 0 && ultimoNsu === maxNsu) || null
  })
  if (asker) {
    await doRoutine(office)
    const { emitente, cliente, justificativa } = story.pedido
    const asked = await untilThere(signal, () =>
      findNote(office, { CampoPesquisa: emitente }, ({ empresa }) => empresa === clientes[cliente].nome),
    )
    await asker(manifestNfe, { body: { idsDFe: [asked.idDfe], tipoManifestacao: 3, justificativa } })
    const { emitente: usual, cliente: buyer } = story.conhecido
    const known = await untilThere(signal, async () => {
      const { items } = await office(listAlerts)
      return items.find((one) => one.emitente === usual && one.empresa === clientes[buyer].nome) ?? null
    })
    await office(setAlertState, { body: { idsDFe: [known.idDFe], estado: 'conhecida' } })
    await asker(addRemark, { body: { idDfe: note.idDfe, texto: story.observacao } })
    await asker(logout)
  }
  const booked = { idsDFe: [note.idDfe], marca: 'lancada' as const, marcada: true }
  await office(markDone, { body: booked })
  await office(logout)
  await simulator.control('POST', 'story')
}

async function doRoutine(office: Call): Promise<void> {
  const dayBefore = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)
  const { lancadasAte, pagasAte, confirmadas, recebida } = story.rotina
  const older = { TipoDFe: '0', DataAte: `${dayBefore(lancadasAte)}T23:59:59` }
  const { ids } = await office(selectDocuments, { query: { ...older, Ordem: 'data', Sentido: 'asc' } })
  await office(markChecked, { body: { idsDFe: ids, conferida: true } })
  await office(markDone, { body: { idsDFe: ids, marca: 'lancada', marcada: true } })
  await office(manifestNfe, {
    body: { idsDFe: ids.slice(0, confirmadas), tipoManifestacao: 2, justificativa: recebida },
  })
  const parcels = await office(selectInstallments, { query: { VencimentoAte: dayBefore(pagasAte) } })
  await office(markPaid, { body: { idsParcelas: parcels.idsParcelas, paga: true } })
}

async function findNote(
  office: Call,
  query: Record<string, string>,
  isIt: (row: DocumentRow) => boolean = () => true,
): Promise<DocumentRow | null> {
  const { items } = await office(listDocuments, { query: { TipoDFe: '0', ...query } })
  return items.find(isIt) ?? null
}

// The capture takes its time.
async function untilThere<T>(signal: AbortSignal, look: () => Promise<T | null>): Promise<T> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await setTimeout(500, undefined, { signal })) {
    const found = await look()
    if (found !== null) return found
  }
  throw new Error('the documents of the demonstration do not arrive')
}
