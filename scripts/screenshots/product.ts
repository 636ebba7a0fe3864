import { type CompanyRow, listCompanies } from '@vigia/contract/companies'
import { listDocuments } from '@vigia/contract/documents'
import type { Envelope } from '@vigia/contract/route'
import pg from 'pg'
import { fillOffice } from '../../tests/journeys/office.ts'
import type { ListRow } from '../../tests/support/client.ts'
import {
  createAccount,
  registerCompany,
  type Stage,
  type StoredSession,
  startStage,
  waitForCapture,
} from '../../tests/support/stage.ts'
import type { SceneFacts, Who } from './scene.ts'

/** The product with something to look at, and the people who look at it. */
export interface PhotographedProduct {
  url: string
  sessions: Record<Who, StoredSession | null>
  facts: SceneFacts
  [Symbol.asyncDispose](): Promise<void>
}

const client = { cnpj: '11222333000181', nome: 'PADARIA ESTRELA DO NORTE LTDA', uf: 'SP' }
const officeSize = 60

/** Starts the product on free ports with data of its own, including the subjects of the scenes. */
export async function startProduct(): Promise<PhotographedProduct> {
  await using stack = new AsyncDisposableStack()
  const stage = stack.use(await startStage([client]))
  const office = await createAccount(stage, 'contato@escritorio.example')
  await registerCompany(stage, office, client)
  await waitForCapture(stage, office)
  await fillOffice(stage.databaseUrl, office, officeSize)
  const ended = await createAccount(stage, 'bruno@oficina.example')
  await endTrial(stage.databaseUrl, ended)
  const empty = await createAccount(stage, 'carla@mercado.example')
  const facts = await findFacts(stage, office)
  const owned = stack.move()
  return {
    url: stage.url,
    sessions: { visitor: null, demo: stage.session, empty, office, ended },
    facts,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function endTrial(databaseUrl: string, { email }: StoredSession): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  try {
    const end = `update workspace set trial_until = now() - interval '1 hour'
                  where id = (select workspace_id from account where email = $1)`
    await database.query(end, [email])
  } finally {
    await database.end()
  }
}

async function findFacts(stage: Stage, office: StoredSession): Promise<SceneFacts> {
  const notes = await readRows(stage, 'TipoDFe=0')
  const freights = await readRows(stage, 'TipoDFe=2')
  const own = await read<CompanyRow[]>(stage, stage.session, listCompanies.path)
  const clients = await read<CompanyRow[]>(stage, office, listCompanies.path)
  const inState = (wanted: string) => clients.find(({ captura }) => captura?.some(({ estado }) => estado === wanted))
  const isOver = ({ validadeCertificadoA1: end }: CompanyRow) => end !== null && new Date(end) < new Date()
  return {
    complete: known(notes.find(({ notaCompleta }) => notaCompleta)).idDfe,
    summary: known(notes.find((row) => !row.notaCompleta && row.tipoParticipacao === 1)).idDfe,
    freight: known(freights.find(({ notaCompleta }) => notaCompleta)).idDfe,
    healthy: known(own[0]).id,
    blocked: known(inState('bloqueada')).id,
    expired: known(clients.find(isOver)).id,
    certificate: Buffer.from(
      await stage.simulator.issueCertificate({ ...client, senha: 'senha do arquivo', sharedKey: true }),
    ),
  }
}

async function readRows(stage: Stage, query: string): Promise<ListRow[]> {
  return (await read<{ items: ListRow[] }>(stage, stage.session, `${listDocuments.path}?${query}`)).items
}

async function read<T>({ url }: Stage, { token }: StoredSession, path: string): Promise<T> {
  const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } })
  const envelope = (await response.json()) as Envelope<T>
  if (!envelope.success) throw new Error(`${path}: ${envelope.message}`)
  return envelope.data as T
}

function known<T>(found: T | undefined): T {
  if (found === undefined) throw new Error('what a scene is about is not in the product that was started')
  return found
}
