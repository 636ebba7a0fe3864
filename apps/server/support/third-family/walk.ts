import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { type Client, newClient } from '../../../../tests/support/client.ts'
import { type Installation, startInstallation } from '../../../../tests/support/installation.ts'
import { readZip } from '../../../../tests/support/zip.ts'
import { findSession } from '../../accounts/sessions.ts'
import { printDocument } from '../../documents/print/printing.ts'
import { previewEvents } from '../../events/candidates.ts'
import { requestEvents } from '../../events/request.ts'
import type { Context } from '../../platform/context.ts'
import type { Session } from '../../platform/http/session.ts'
import { operate, rebuildAll, routes } from '../../start.ts'
import { chaveOf, company, numbers } from './deliveries.ts'
import { aceite, recibo } from './recibo.ts'

// A program that `hook.ts` was loaded before: it takes the recibos of a company through the whole product.
const [databaseUrl, testKeys] = process.argv.slice(2)

interface Details {
  nome: string
  historico: { descricao: string }[]
}

const query = `TipoDFe=${recibo.code}`

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < 300; tries++) {
    const found = await look()
    if (found) return found
    await setTimeout(100)
  }
  throw new Error(`${what}: never`)
}

const shown = async (client: Client) =>
  Object.fromEntries(
    (await client.list(query))
      .map(
        ({ numero, status, tipoParticipacao, chave }) =>
          [numero, [status.descricaoEvento, tipoParticipacao, chave]] as const,
      )
      .sort(([a], [b]) => a - b),
  )

async function capture(client: Client) {
  await client.register(company, 'EMPRESA ALFA LTDA')
  await until('captured', async () => (await client.list(query)).length === 5 || null)
  assert.deepEqual(await shown(client), {
    [numbers.own]: ['Autorizada', 0, chaveOf(numbers.own, company)],
    [numbers.replaced]: ['Substituído', 1, chaveOf(numbers.replaced)],
    [numbers.replacing]: ['Autorizada', 1, chaveOf(numbers.replacing)],
    [numbers.answered]: ['Autorizada', 1, chaveOf(numbers.answered)],
    [numbers.cancelled]: ['Cancelamento de Recibo', 1, chaveOf(numbers.cancelled)],
  })
}

async function search(client: Client) {
  const find = async (text: string) =>
    (await client.list(`${query}&CampoPesquisa=${encodeURIComponent(text)}`))
      .map(({ numero }) => numero)
      .sort((a, b) => a - b)
  assert.deepEqual(await find(String(numbers.answered)), [numbers.answered])
  assert.deepEqual(await find(recibo.key.format(chaveOf(numbers.cancelled))), [numbers.cancelled])
  assert.equal((await find('oficina do parafuso')).length, 4)
  assert.deepEqual(
    (await client.list(`${query}&TipoParticipacao=0`)).map(({ numero }) => numero),
    [numbers.own],
  )
}

async function answer(ctx: Context, session: Session, document: string) {
  const [kind] = recibo.answers
  const request = { service: recibo.id, kind: kind!, documents: [document], justification: '' }
  const before = await previewEvents(ctx, session, request)
  assert.deepEqual(before.permitidos, [document])
  assert.ok(new Date(before.primeiroPrazo!) > new Date(), 'the answer has a deadline')
  const [outcome] = await requestEvents(ctx, session, request)
  assert.deepEqual([outcome?.numero, outcome?.situacao], [numbers.answered, 'registrada'])
}

/** Every reading call answers, whatever it has to show of a family. */
async function readEverything(client: Client) {
  const reading = routes.filter(({ route }) => route.method === 'GET' && !route.path.includes('{'))
  for (const { route } of reading) {
    const ofFamily = route.path.startsWith('/v1/api/DocumentosFiscais') ? `?${query}` : ''
    const { status, body } = await client.call('GET', route.path + ofFamily)
    assert.ok(status < 500, `${route.path}: ${status} ${JSON.stringify(body)}`)
  }
}

async function exportAll({ url }: Installation, client: Client) {
  const form = { filtro: { TipoDFe: recibo.code }, pdf: true }
  const { body } = await client.call<{ endereco: string }>('POST', '/v1/api/DocumentosFiscais/exportar', form)
  const zip = await fetch(new URL(body.data?.endereco ?? body.message, url))
  const files = [...readZip(Buffer.from(await zip.arrayBuffer())).keys()]
  for (const number of [numbers.answered, numbers.replaced]) {
    const name = recibo.files.name(chaveOf(number), true)
    assert.ok(
      files.some((file) => file.includes(recibo.files.folder) && file.endsWith(name)),
      `${name} in ${files}`,
    )
  }
  assert.ok(
    files.some((file) => file.endsWith('.pdf')),
    `a PDF in ${files}`,
  )
}

await using installation = await startInstallation(databaseUrl!, {
  prepareSimulator: (directory) => cpSync(testKeys!, directory, { recursive: true }),
})
const account = { nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }
const client = await newClient(installation, account)
await capture(client)
await search(client)
const rows = await client.list(query)
const idOf = (number: number) => rows.find(({ numero }) => numero === number)!.idDfe
await operate(installation.config, async (ctx) => {
  const { body } = await client.call<{ token: string }>('POST', '/v1/api/Auth', account)
  const session = await findSession(ctx, body.data.token, { address: '', agent: '' })
  const { content } = await printDocument(ctx, session!.workspaceId, idOf(numbers.answered), recibo.id)
  assert.match(Buffer.from(content).toString('latin1'), /^%PDF/)
  await answer(ctx, session!, idOf(numbers.answered))
  const before = await shown(client)
  assert.equal(before[numbers.answered]?.[0], 'Aceite do Recibo')
  const details = await client.call<Details>('GET', `/v1/api/DocumentosFiscais/detalhes/${idOf(numbers.answered)}`)
  assert.equal(details.body.data.nome, 'Recibo 9.876.543.210.123 da OFICINA DO PARAFUSO')
  // The authority tells whole seconds: the arrival may be of the same one, and stand above.
  assert.ok(details.body.data.historico.some(({ descricao }) => descricao === 'Aceite do Recibo'))
  const sheet = await client.call('GET', `/v1/api/DocumentosFiscais/evento/${idOf(numbers.answered)}/${aceite}-1-0`)
  assert.match(sheet.bytes.toString('latin1'), /^%PDF/)
  await readEverything(client)
  await exportAll(installation, client)
  await rebuildAll(ctx, () => {})
  assert.deepEqual(await shown(client), before)
})
