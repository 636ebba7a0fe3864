import { createHash, randomBytes } from 'node:crypto'
import { scopes } from '@vigia/contract/route'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { operate } from '@vigia/server/start'
import { Secret, TOTP } from 'otpauth'
import { createAuthenticator } from './authenticator.ts'
import { logIn, type Member, type TwoWorkspaces } from './two-workspaces.ts'

/** Input of a call, before it is written into a request. */
export interface GoodInput {
  params?: Record<string, string>
  query?: Record<string, string | string[]>
  body?: Record<string, unknown>
  form?: Record<string, string | File>
}

/** An input that is answered 200. */
export interface Good extends GoodInput {
  /** The field that names something of the workspace. */
  id?: string
  /** Token of the caller when it is not the first member, because the call ends something. */
  token?: string
}

/** An account that calls may change and end. */
export const disposable = { nome: 'Conta Descartável', email: 'descartavel@exemplo.com.br', senha: 'segredo1' }

const careful = { nome: 'Conta Cuidadosa', email: 'cuidadosa@exemplo.com.br', senha: 'segredo1' }

/** A session of an account with a second factor, or without one. */
async function carefulSession({ product, owner }: TwoWorkspaces, { isOn }: { isOn: boolean }): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  await fetch(new URL('/v1/api/Usuarios', product.url), { method: 'POST', headers, body: JSON.stringify(careful) })
  await owner.query('delete from second_factor f using account a where a.id = f.account_id and a.email = $1', [
    careful.email,
  ])
  const token = await logIn(product, careful)
  // Calls before have made passkeys, and the password alone changes nothing beside them.
  await owner.query('update session set with_factor = true where token_hash = $1', [digest(token)])
  if (isOn)
    await owner.query(
      `insert into second_factor (workspace_id, account_id, secret, confirmed_at) select workspace_id, id, '', now() from account where email = $1`,
      [careful.email],
    )
  return token
}

async function carefulCode({ product }: TwoWorkspaces, token: string): Promise<string> {
  const url = new URL('/v1/api/Usuarios/duas-etapas', product.url)
  const response = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  const { data } = (await response.json()) as { data: { segredo: string } }
  return new TOTP({ secret: Secret.fromBase32(data.segredo) }).generate()
}

async function challengeOf({ product }: TwoWorkspaces, token?: string): Promise<{ challenge: string }> {
  const path = token ? '/v1/api/Usuarios/passkeys/desafio' : '/v1/api/Auth/desafio'
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  const response = await fetch(new URL(path, product.url), { method: 'POST', headers })
  return ((await response.json()) as { data: { challenge: string } }).data
}

async function passkeyOf(two: TwoWorkspaces, token: string) {
  const device = createAuthenticator({ origin: two.product.config.publicUrl })
  await fetch(new URL('/v1/api/Usuarios/passkeys', two.product.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ nome: 'Celular', resposta: device.register(await challengeOf(two, token)) }),
  })
  return device
}

export const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

/** The name of a new session. */
export async function newSessionOf({ product, owner }: TwoWorkspaces, { account }: Member): Promise<string> {
  const hash = digest(await logIn(product, account))
  const { rows } = await owner.query<{ id: string }>('select public_id as id from session where token_hash = $1', [
    hash,
  ])
  return rows[0]!.id
}

async function newView({ owner, mine }: TwoWorkspaces): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into saved_view (workspace_id, type, name, address, saved_by)
     select workspace_id, 0, gen_random_uuid()::text, 'status=1', id from account where email = $1 returning public_id as id`,
    [mine.account.email],
  )
  return rows[0]!.id
}

async function newFeed({ owner, mine }: TwoWorkspaces): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await owner.query(
    `with made as (
       insert into calendar_feed (workspace_id, account_id, token_hash) select workspace_id, id, $2 from account where email = $1
       on conflict (workspace_id, account_id, kind) do update set token_hash = excluded.token_hash returning workspace_id)
     insert into token_directory (token_hash, workspace_id, kept_until) select $2, workspace_id, 'infinity' from made`,
    [mine.account.email, digest(token)],
  )
  return token
}

// As the link in a letter has it.
async function newStop({ owner, mine, product }: TwoWorkspaces): Promise<string> {
  const { rows } = await owner.query<{ person: [number, number] }>(
    `select array[workspace_id, id] as person from account where email = $1`,
    [mine.account.email],
  )
  const sealed = await operate(product.config, async ({ vault }) =>
    vault.encrypt(JSON.stringify([...rows[0]!.person, 'prazos']), 'letters'),
  )
  return sealed.toString('base64url')
}

const report = { Tipo: 'compras', Por: 'produto', MesDe: '2026-10', MesAte: '2026-11' }

// As the reading of a note leaves it.
async function boughtProduct({ owner, mine }: TwoWorkspaces): Promise<string> {
  const { rows } = await owner.query<{ id: number }>(
    `with bought as (
       insert into product (workspace_id, issuer, code, name, ncm, unit, bare)
       select workspace_id, '', '', 'PAPEL', '', 'UN', '' from account where email = $1 returning workspace_id, id)
     insert into product_sum (workspace_id, product_id, company_id, month, side, documents, value, quantity)
     select b.workspace_id, b.id, c.id, '2026-11-01', 0, 1, 100, 10000 from bought b join company c on c.public_id = $2 returning product_id as id`,
    [mine.account.email, mine.companyId],
  )
  return String(rows[0]!.id)
}

async function monthlyReport({ product, mine }: TwoWorkspaces): Promise<string> {
  const response = await fetch(new URL('/v1/api/Relatorios/mensais', product.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${mine.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ Tipo: 'fretes', Por: 'mes' }),
  })
  return ((await response.json()) as { data: { id: string }[] }).data.at(-1)!.id
}

async function newRemark(two: TwoWorkspaces): Promise<{ idDfe: string; idObservacao: string }> {
  const idDfe = await complete(two, 2)
  const response = await fetch(`${two.product.url}/v1/api/DocumentosFiscais/observacoes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${two.mine.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ idDfe, texto: 'Frete combinado por telefone.' }),
  })
  const { data } = (await response.json()) as { data: { idObservacao: string }[] }
  return { idDfe, idObservacao: data.at(-1)!.idObservacao }
}

const answerRule = {
  nome: 'Papelaria, até R$ 500',
  condicoes: { emitentes: ['12.345.678/0001-95'], valorAte: 500 },
  resposta: 'ciencia-apos',
  dias: 2,
}

async function answerRules({ product, mine }: TwoWorkspaces): Promise<string[]> {
  const response = await fetch(`${product.url}/v1/api/RegrasDeResposta`, {
    headers: { authorization: `Bearer ${mine.token}` },
  })
  const { data } = (await response.json()) as { data: { regras: { idRegra: string }[] } }
  return data.regras.map(({ idRegra }) => idRegra)
}

async function newAnswerRule(two: TwoWorkspaces): Promise<string> {
  await two.owner.query(
    `insert into answer_rule (workspace_id, position, name, active, answer, conditions, saved_by)
     select workspace_id, (select count(*) from answer_rule), 'x', true, 'perguntar', '{}', id from account where email = $1`,
    [two.mine.account.email],
  )
  return (await answerRules(two)).at(-1)!
}

async function newAsked(two: TwoWorkspaces): Promise<string> {
  const { rows } = await two.owner.query<{ id: string }>(
    `insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, state, why, requested_by)
     select d.workspace_id, d.company_id, d.id, d.type, c.cnpj, d.chave, 210220, (select count(*) + 2 from outgoing_event), 'asked', 'x', a.id
       from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
       join account a on a.workspace_id = d.workspace_id and a.email = $1
      where d.type = 0 order by d.id limit 1 returning id`,
    [two.mine.account.email],
  )
  if (rows.length === 0) throw new Error('no note to answer')
  const response = await fetch(`${two.product.url}/v1/api/SegundaPessoa`, {
    headers: { authorization: `Bearer ${two.mine.token}` },
  })
  const { data } = (await response.json()) as { data: { items: { idPedido: string }[] } }
  return data.items.at(-1)!.idPedido
}

// A note with an event whose registration the authority has not confirmed for a day.
async function unconfirmed({ owner, mine }: TwoWorkspaces): Promise<string> {
  const { idDfe, chave } = (await mine.client.list('TipoDFe=0'))[0]!
  await owner.query('delete from outgoing_event where chave = $1', [chave])
  await owner.query(
    `insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, state, why, requested_by)
     select d.workspace_id, d.company_id, d.id, d.type, c.cnpj, d.chave, 210220, 2, 'unconfirmed', 'x', a.id
       from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
       join account a on a.workspace_id = d.workspace_id and a.email = $1 where d.chave = $2`,
    [mine.account.email, chave],
  )
  return idDfe
}

async function newAlert(two: TwoWorkspaces): Promise<string> {
  const idDFe = await complete(two, 0)
  const url = new URL(`/v1/api/DocumentosFiscais/detalhes/${idDFe}`, two.product.url)
  const response = await fetch(url, { headers: { authorization: `Bearer ${two.mine.token}` } })
  const { data } = (await response.json()) as { data: { documento: { chave: string } } }
  await two.owner.query(
    `insert into alert (workspace_id, document_id, company_id, at, score, band, company_base, issuer_base, chave, rules, fired, learning)
     select d.workspace_id, d.id, d.company_id, 0, 70, 2, left(c.cnpj, 8), substr(d.chave, 7, 8), d.chave, '{S01}',
            '[{"id":"S01","version":1,"family":"identity","weight":0.7,"inputs":{},"compared":[],"sentence":"Fornecedor nunca visto.","learning":false}]', false
       from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
       join account a on a.workspace_id = d.workspace_id and a.email = $1
      where d.chave = $2
     on conflict (workspace_id, document_id) do update set rules = excluded.rules, fired = excluded.fired, state = 'nova'`,
    [two.mine.account.email, data.documento.chave],
  )
  return idDFe
}

async function newKnownAlert(two: TwoWorkspaces): Promise<string> {
  const headers = { authorization: `Bearer ${two.mine.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ idsDFe: [await newAlert(two)], estado: 'conhecida' })
  await fetch(new URL('/v1/api/Alertas/estado', two.product.url), { method: 'POST', headers, body })
  const response = await fetch(new URL('/v1/api/Alertas/conhecidos', two.product.url), { headers })
  return ((await response.json()) as { data: { idConhecido: string }[] }).data[0]!.idConhecido
}

const freight = { MesDe: '2026-10', MesAte: '2026-11', CampoPesquisa: 'transp', Regra: 'fr-quilo', Estado: 'abertos' }

// A finding that its CT-e need not have.
async function newFreight(two: TwoWorkspaces): Promise<string> {
  const idDFe = await complete(two, 2)
  const url = new URL(`/v1/api/DocumentosFiscais/detalhes/${idDFe}`, two.product.url)
  const response = await fetch(url, { headers: { authorization: `Bearer ${two.mine.token}` } })
  const { data } = (await response.json()) as { data: { documento: { chave: string } } }
  await two.owner.query(
    `insert into freight_finding (workspace_id, document_id, company_id, issued_at, told_at, value, code, sentence, documents)
     select d.workspace_id, d.id, d.company_id, d.issued_at, '-infinity', 100, 'fr-quilo', 'x', '{}'
       from document d join account a on a.workspace_id = d.workspace_id and a.email = $1
      where d.chave = $2
     on conflict do nothing`,
    [two.mine.account.email, data.documento.chave],
  )
  return idDFe
}

const issuerOf = async ({ mine }: TwoWorkspaces) => (await mine.client.list('TipoDFe=0'))[0]!.chave.slice(6, 14)

// A parcel that its note need not have.
async function newInstallment(two: TwoWorkspaces): Promise<string> {
  const idDFe = await complete(two, 0)
  const url = new URL(`/v1/api/DocumentosFiscais/detalhes/${idDFe}`, two.product.url)
  const response = await fetch(url, { headers: { authorization: `Bearer ${two.mine.token}` } })
  const { data } = (await response.json()) as { data: { documento: { chave: string } } }
  await two.owner.query(
    `insert into installment (workspace_id, document_id, place, company_id, due_on, amount, number, issuer, standing)
     select d.workspace_id, d.id, 120, d.company_id, current_date, 150050, '120', substr(d.chave, 7, 14), true
       from document d join account a on a.workspace_id = d.workspace_id and a.email = $1
      where d.chave = $2
     on conflict do nothing`,
    [two.mine.account.email, data.documento.chave],
  )
  return `${idDFe}.120`
}

async function newLink({ owner }: TwoWorkspaces, purpose: 'password' | 'email'): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await owner.query(
    `with link as (
       insert into mail_link (token_hash, workspace_id, account_id, expires_at, purpose)
       select $1, workspace_id, id, now() + interval '1 hour', $3 from account where email = $2
       returning token_hash, workspace_id, expires_at)
     insert into token_directory (token_hash, workspace_id, kept_until) select * from link`,
    [digest(token), disposable.email, purpose],
  )
  return token
}

async function certificate({ product }: TwoWorkspaces, cnpj: string): Promise<File> {
  const bytes = await product.simulator.issueCertificate({
    cnpj,
    nome: 'EMPRESA BETA LTDA',
    senha: 'segredo',
    sharedKey: true,
  })
  return new File([new Uint8Array(bytes)], 'empresa.pfx')
}

const complete = async ({ mine }: TwoWorkspaces, type: 0 | 2) =>
  (await mine.client.list(`TipoDFe=${type}`)).find(({ notaCompleta }) => notaCompleta)!.idDfe
const summary = async ({ mine }: TwoWorkspaces) => (await mine.client.list('TipoDFe=0&Status=1'))[0]!.idDfe
// Only who pays the freight (7, tomador) may say that a valid (2) CT-e disagrees.
const payable = async ({ mine }: TwoWorkspaces) =>
  (await mine.client.list('TipoDFe=2&Status=2&TipoParticipacao=7')).find(({ notaCompleta }) => notaCompleta)!.idDfe

async function newExport({ mine }: TwoWorkspaces, what: 'exportar' | 'imprimir' = 'exportar') {
  const { body } = await mine.client.call<{ idExportacao: string; endereco: string }>(
    'POST',
    `/v1/api/DocumentosFiscais/${what}`,
    { filtro: { TipoDFe: 2 } },
  )
  return body.data
}

const ticketOf = ({ endereco }: { endereco: string }) => endereco.split('/').at(-1)!

// A document with an event that can be printed, and the name of that event.
async function printable({ mine }: TwoWorkspaces): Promise<Record<string, string>> {
  for (const idDfe of [...mine.nfe, ...mine.cte]) {
    const path = `/v1/api/DocumentosFiscais/detalhes/${idDfe}`
    const { body } = await mine.client.call<{ historico: { idEvento: string | null }[] }>('GET', path)
    const idEvento = body.data.historico.find((entry) => entry.idEvento !== null)?.idEvento
    if (idEvento) return { idDfe, idEvento }
  }
  throw new Error('no document has an event that can be printed')
}

// A company of its own each time: its certificate can be removed once.
async function newCompany(two: TwoWorkspaces): Promise<string> {
  const first12 = `77${String(++companies).padStart(6, '0')}0001`
  const form = new FormData()
  form.append('Certificado', await certificate(two, first12 + cnpjCheckDigits(first12)))
  form.append('Senha', 'segredo')
  const { body } = await two.mine.client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', form)
  return body.data.idEmpresa
}
let companies = 0

async function newAnnouncement({ owner, mine }: TwoWorkspaces): Promise<string> {
  await owner.query(
    `insert into announcement (workspace_id, topic, kind, header, body)
     select workspace_id, 'aviso', 'alert', 'Aviso', 'De quem cuida do sistema.' from account where email = $1`,
    [mine.account.email],
  )
  const { body } = await mine.client.call<{ items: { idAviso: string }[] }>('GET', '/v1/api/Avisos')
  return body.data.items[0]!.idAviso
}

// There are twenty of them at most, and sixty are made in a day.
async function forgetKeys({ owner }: TwoWorkspaces): Promise<void> {
  await owner.query('delete from api_key')
  await owner.query('delete from throttle')
}

/** A new key of a member, with every scope unless told otherwise. */
export async function newKey(
  { owner }: Pick<TwoWorkspaces, 'owner'>,
  { account }: { account: { email: string } },
  granted: readonly string[] = scopes,
): Promise<{ idChave: string; chave: string }> {
  const chave = `vigia_${randomBytes(32).toString('hex')}`
  const { rows } = await owner.query<{ id: string }>(
    `with made as (
       insert into api_key (workspace_id, name, scopes, start, token_hash, created_by)
       select workspace_id, gen_random_uuid()::text, $3, 'vigia_', $2, id from account where email = $1 returning public_id, workspace_id),
     listed as (insert into token_directory (token_hash, workspace_id, kept_until) select $2, workspace_id, 'infinity' from made)
     select public_id as id from made`,
    [account.email, digest(chave), granted],
  )
  return { idChave: rows[0]!.id, chave }
}

/** A new person of a member's workspace, as the row of their account says, and a session of theirs. */
export async function newPersonOf(
  { owner }: Pick<TwoWorkspaces, 'owner'>,
  { account }: { account: { email: string } },
  { role, companies = null }: { role: string; companies?: readonly string[] | null },
): Promise<{ idPessoa: string; token: string }> {
  const token = randomBytes(32).toString('base64url')
  // A workspace has room for so many.
  await owner.query("delete from account where name = 'Pessoa da Equipe' and role = $1 and all_companies = $2", [
    role,
    companies === null,
  ])
  const { rows } = await owner.query<{ id: string }>(
    `with person as (
       insert into account (workspace_id, email, name, password_hash, role, all_companies, email_proved_at)
       select workspace_id, gen_random_uuid() || '@exemplo.com.br', 'Pessoa da Equipe', password_hash, $3, $4::text[] is null, now() from account where email = $1
       returning workspace_id, id, public_id),
     chosen as (
       insert into account_company select p.workspace_id, p.id, c.id from person p join company c on c.workspace_id = p.workspace_id
        where c.public_id::text = any ($4::text[])),
     opened as (
       insert into session (workspace_id, account_id, token_hash, expires_at) select workspace_id, id, $2, now() + interval '1 hour' from person),
     listed as (insert into token_directory (token_hash, workspace_id, kept_until) select $2, workspace_id, 'infinity' from person)
     select public_id as id from person`,
    [account.email, digest(token), role, companies],
  )
  return { idPessoa: rows[0]!.id, token }
}

const guest = 'convidada@exemplo.com.br'

// An invitation of the first member's workspace, as if its letter had come.
async function newInvitation(
  { owner, mine }: TwoWorkspaces,
  email = guest,
): Promise<{ idConvite: string; token: string }> {
  const token = randomBytes(32).toString('base64url')
  await owner.query('delete from invitation')
  await owner.query('delete from throttle')
  const { rows } = await owner.query<{ id: string }>(
    `with made as (
       insert into invitation (workspace_id, email, role, invited_by, token_hash, expires_at)
       select workspace_id, $3, 'leitura', id, $2, now() + interval '1 day' from account where email = $1 returning workspace_id, public_id),
     listed as (insert into token_directory (token_hash, workspace_id, kept_until) select $2, workspace_id, 'infinity' from made)
     select public_id as id from made`,
    [mine.account.email, digest(token), email],
  )
  return { idConvite: rows[0]!.id, token }
}

// The account that accepted the last invitation.
async function forgetGuest({ owner }: TwoWorkspaces): Promise<void> {
  await owner.query('delete from account_directory where email = $1', [guest])
  await owner.query('delete from account where email = $1', [guest])
}

let newcomers = 0

/** A person with an account elsewhere, and their session there. */
async function newcomer(two: TwoWorkspaces): Promise<{ email: string; token: string }> {
  const person = { nome: 'Pessoa de Fora', email: `fora${++newcomers}@exemplo.com.br`, senha: 'segredo1', tipoPlano: 2 }
  const headers = { 'content-type': 'application/json' }
  await fetch(new URL('/v1/api/Usuarios', two.product.url), { method: 'POST', headers, body: JSON.stringify(person) })
  return { email: person.email, token: await logIn(two.product, person) }
}

const webhook = { endereco: 'https://erp.exemplo.com.br/aviso', tipos: ['documento-novo'] }

// There are ten of them at most.
async function forgetWebhooks({ mine, owner }: TwoWorkspaces): Promise<void> {
  await owner.query('delete from webhook where workspace_id = (select workspace_id from account where email = $1)', [
    mine.account.email,
  ])
}

async function newWebhook(two: TwoWorkspaces): Promise<string> {
  await forgetWebhooks(two)
  const { body } = await two.mine.client.call<{ idWebhook: string }>('POST', '/v1/api/Webhooks', webhook)
  return body.data.idWebhook
}

async function newDelivery(two: TwoWorkspaces): Promise<string> {
  const idWebhook = await newWebhook(two)
  const { rows } = await two.owner.query<{ id: string }>(
    `insert into webhook_delivery (workspace_id, webhook_id, kind, body, state)
     select workspace_id, id, 'teste', '{}', 'failed' from webhook where public_id = $1 returning public_id as id`,
    [idWebhook],
  )
  return rows[0]!.id
}

// One white point.
const logo = () =>
  new File(
    [
      Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC',
        'base64',
      ),
    ],
    'logo.png',
  )

async function companyWithLogo(two: TwoWorkspaces): Promise<string> {
  const form = new FormData()
  form.append('IdEmpresa', two.mine.companyId)
  form.append('Logo', logo())
  await two.mine.client.call('POST', '/v1/api/Empresas/logo', form)
  return two.mine.companyId
}

// One whose files came, so that as many can be made as tests like.
async function newBatch(two: TwoWorkspaces): Promise<string> {
  const path = '/v1/api/Empresas/certificados-em-lote'
  const { body } = await two.mine.client.call<{ idLote: string }>('POST', path, { senhas: '', totalDeArquivos: 1 })
  const { idLote } = body.data
  const arquivos = [{ nome: 'empresa.pfx', conteudo: 'AAAA', senha: 'segredo' }]
  await two.mine.client.call('POST', `${path}/${idLote}/arquivos`, { arquivos, ultimos: true })
  return idLote
}

const switches = [
  'SincronizacaoAutomatica',
  ...['Emitente', 'Destinatario', 'Transportador', 'Terceiro'].map((name) => `ConfiguracoesNfe.${name}`),
  ...['Emitente', 'Remetente', 'Destinatario', 'Expedidor', 'Recebedor', 'Tomador', 'Terceiro'].map(
    (name) => `ConfiguracoesCte.${name}`,
  ),
]

/** For each route, by method and path, an input that it takes; made anew for each call. */
export const goodCalls: Record<string, (two: TwoWorkspaces) => Good | Promise<Good>> = {
  'GET /health': () => ({}),
  'POST /v1/api/Usuarios': () => ({ body: { ...disposable, celular: '(11) 91234-5678', tipoPlano: 2 } }),
  'POST /v1/api/Auth': () => ({ body: { email: disposable.email, senha: disposable.senha } }),
  'POST /v1/api/RecuperarSenha': () => ({ body: { email: disposable.email } }),
  'GET /v1/api/RecuperarSenha/{token}': async (two) => ({ params: { token: await newLink(two, 'password') } }),
  'POST /v1/api/RecuperarSenha/atualizar-senha': async (two) => ({
    body: { urlAcesso: await newLink(two, 'password'), senha: 'segredo1', senhaNovamente: 'segredo1' },
  }),
  'POST /v1/api/Usuarios/confirmar-email': async (two) => ({ body: { urlAcesso: await newLink(two, 'email') } }),
  'POST /v1/api/Usuarios/reenviar-confirmacao': () => ({}),
  'GET /v1/api/Usuarios/conta': () => ({}),
  'PUT /v1/api/Usuarios/conta': async (two) => ({
    body: { nome: 'Ana Souza', celular: '' },
    token: await logIn(two.product, disposable),
  }),
  'POST /v1/api/Usuarios/trocar-email': async (two) => ({
    body: { email: 'nova@exemplo.com.br', senhaAtual: 'segredo1' },
    token: await logIn(two.product, disposable),
  }),
  'POST /v1/api/Usuarios/desistir-da-troca-de-email': async (two) => ({ token: await logIn(two.product, disposable) }),
  'PUT /v1/api/Usuarios/senha': async (two) => ({
    body: { senhaAtual: 'segredo1', senha: 'segredo1', senhaNovamente: 'segredo1' },
    token: await logIn(two.product, disposable),
  }),
  'POST /v1/api/Usuarios/excluir': async (two) => ({
    body: { senhaAtual: 'segredo1' },
    token: await logIn(two.product, disposable),
  }),
  'POST /v1/api/Usuarios/manter': async (two) => ({ token: await logIn(two.product, disposable) }),
  'POST /v1/api/Auth/confirmar': async (two) => ({
    body: { senha: careful.senha },
    token: await carefulSession(two, { isOn: false }),
  }),
  'POST /v1/api/Auth/desafio': () => ({}),
  'POST /v1/api/Auth/passkey': async (two) => ({
    body: { resposta: (await passkeyOf(two, await carefulSession(two, { isOn: false }))).sign(await challengeOf(two)) },
  }),
  'POST /v1/api/Usuarios/passkeys/desafio': async (two) => ({
    token: await carefulSession(two, { isOn: false }),
  }),
  'POST /v1/api/Usuarios/passkeys': async (two) => {
    const token = await carefulSession(two, { isOn: false })
    const made = createAuthenticator({ origin: two.product.config.publicUrl }).register(await challengeOf(two, token))
    return { body: { nome: 'Celular', resposta: made }, token }
  },
  'POST /v1/api/Usuarios/passkeys/remover': async (two) => {
    const token = await carefulSession(two, { isOn: false })
    await passkeyOf(two, token)
    const { rows } = await two.owner.query<{ id: string }>(
      'select p.public_id as id from passkey p join account a on a.id = p.account_id where a.email = $1',
      [careful.email],
    )
    return { body: { idPasskey: rows[0]!.id }, token, id: 'idPasskey' }
  },
  'POST /v1/api/Usuarios/duas-etapas': async (two) => ({ token: await carefulSession(two, { isOn: false }) }),
  'PUT /v1/api/Usuarios/duas-etapas': async (two) => {
    const token = await carefulSession(two, { isOn: false })
    return { body: { codigo: await carefulCode(two, token) }, token }
  },
  'POST /v1/api/Usuarios/duas-etapas/codigos': async (two) => ({ token: await carefulSession(two, { isOn: true }) }),
  'POST /v1/api/Usuarios/duas-etapas/desligar': async (two) => ({ token: await carefulSession(two, { isOn: true }) }),
  'GET /v1/api/Auth/sessoes': () => ({}),
  'POST /v1/api/Auth/encerrar-sessoes': async (two) => ({
    body: { idSessao: await newSessionOf(two, two.mine) },
    id: 'idSessao',
  }),
  'POST /v1/api/Auth/sair': async (two) => ({ token: await logIn(two.product, disposable) }),
  'POST /v1/api/Contato': () => ({
    body: {
      nome: 'Ana Souza',
      email: 'ana@exemplo.com.br',
      celular: '11912345678',
      empresa: 'EMPRESA ALFA LTDA',
      mensagem: 'Gostaria de falar com alguém.',
      confirmacao: '',
    },
  }),
  'POST /v1/api/DocumentosFiscais/observacoes': async (two) => ({
    body: { idDfe: await complete(two, 0), texto: 'Falar com o fornecedor.' },
    id: 'idDfe',
  }),
  'POST /v1/api/DocumentosFiscais/apagar-observacao': async (two) => ({
    body: await newRemark(two),
    id: 'idDfe',
  }),
  'PUT /v1/api/DocumentosFiscais/conferidas': async (two) => ({
    body: { idsDFe: [await complete(two, 0)], conferida: true },
    id: 'idsDFe',
  }),
  'PUT /v1/api/DocumentosFiscais/marcas': async (two) => ({
    body: { idsDFe: [await complete(two, 0)], marca: 'lancada', marcada: true },
    id: 'idsDFe',
  }),
  'GET /v1/api/DocumentosFiscais/visoes': () => ({}),
  'PUT /v1/api/DocumentosFiscais/visoes': () => ({
    body: { tipoDFe: 0, nome: 'Sem resposta', endereco: 'status=8&ordem=prazo', inicial: false },
  }),
  'POST /v1/api/DocumentosFiscais/apagar-visao': async (two) => ({
    body: { idVisao: await newView(two) },
    id: 'idVisao',
  }),
  'GET /v1/api/RegrasDeResposta': () => ({}),
  'POST /v1/api/RegrasDeResposta/guardar': async (two) => ({
    body: { ...answerRule, idRegra: await newAnswerRule(two) },
    id: 'idRegra',
  }),
  'POST /v1/api/RegrasDeResposta/testar-regra': async (two) => ({
    body: { ...answerRule, idRegra: await newAnswerRule(two) },
    id: 'idRegra',
  }),
  'POST /v1/api/RegrasDeResposta/ordenar': async (two) => ({ body: { idsRegra: await answerRules(two) } }),
  'POST /v1/api/RegrasDeResposta/apagar': async (two) => ({
    body: { idRegra: await newAnswerRule(two) },
    id: 'idRegra',
  }),
  'GET /v1/api/SegundaPessoa': () => ({}),
  'GET /v1/api/SegundaPessoa/retidas': () => ({}),
  'GET /v1/api/Sistema/trabalhos': () => ({}),
  'POST /v1/api/SegundaPessoa/liberar': () => ({}),
  'GET /v1/api/SegundaPessoa/valor': () => ({}),
  'PUT /v1/api/SegundaPessoa/valor': () => ({ body: { valor: null } }),
  'POST /v1/api/SegundaPessoa/decidir': async (two) => ({
    body: { idsPedido: [await newAsked(two)], aprovar: false, motivo: 'O pedido foi de outra loja.' },
    id: 'idsPedido',
  }),
  'GET /v1/api/Alertas/ajustes': () => ({}),
  'PUT /v1/api/Alertas/ajustes': () => ({ body: { limite: 50_000, grupos: [['11222333', '44555666']] } }),
  'GET /v1/api/Prazos': () => ({}),
  'GET /v1/api/Relatorios': (two) => ({
    query: { ...report, IdEmpresa: two.mine.companyId, CampoPesquisa: 'papel', PaginaAtual: '1' },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/Relatorios/planilha': (two) => ({
    query: { ...report, IdEmpresa: two.mine.companyId, CampoPesquisa: 'papel' },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/Relatorios/precos/{idProduto}': async (two) => ({
    params: { idProduto: await boughtProduct(two) },
    query: { IdEmpresa: two.mine.companyId, MesAte: report.MesAte },
    id: 'idProduto',
  }),
  'GET /v1/api/Relatorios/mensais': () => ({}),
  'POST /v1/api/Relatorios/mensais': (two) => ({
    body: { Tipo: 'compras', Por: 'cfop', IdEmpresa: two.mine.companyId },
    id: 'IdEmpresa',
  }),
  'POST /v1/api/Relatorios/mensais/remover': async (two) => ({
    body: { id: await monthlyReport(two) },
    id: 'id',
  }),
  'GET /v1/api/Reforma': (two) => ({ query: { Mes: '2026-11', IdEmpresa: two.mine.companyId }, id: 'IdEmpresa' }),
  'GET /v1/api/Reforma/planilha': (two) => ({
    query: { Mes: '2026-11', IdEmpresa: two.mine.companyId },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/Alertas': (two) => ({
    query: { Faixa: 'alto', Estado: 'nova', Regra: 'S01', IdEmpresa: two.mine.companyId },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/Alertas/resumo': () => ({}),
  'GET /v1/api/Alertas/detalhes/{idDFe}': async (two) => ({ params: { idDFe: await newAlert(two) }, id: 'idDFe' }),
  'POST /v1/api/Alertas/estado': async (two) => ({
    body: { idsDFe: [await newAlert(two)], estado: 'conhecida', regras: ['S01'], teto: '99999999.00' },
    id: 'idsDFe',
  }),
  'GET /v1/api/Alertas/regras': () => ({}),
  'PUT /v1/api/Alertas/regras/{id}': () => ({ params: { id: 'S02' }, body: { ligada: false } }),
  'POST /v1/api/Alertas/regras/{id}/testar': () => ({ params: { id: 'S10' } }),
  'GET /v1/api/Alertas/regras/{id}/teste': async ({ product, mine }) => {
    await fetch(`${product.url}/v1/api/Alertas/regras/S10/testar`, {
      method: 'POST',
      headers: { authorization: `Bearer ${mine.token}` },
    })
    return { params: { id: 'S10' } }
  },
  'GET /v1/api/Alertas/evidencias/{idDFe}': async (two) => ({ params: { idDFe: await newAlert(two) }, id: 'idDFe' }),
  'GET /v1/api/Alertas/habitos': () => ({}),
  'GET /v1/api/Alertas/conhecidos': () => ({}),
  'POST /v1/api/Alertas/apagar-conhecido': async (two) => ({
    body: { idConhecido: await newKnownAlert(two) },
    id: 'idConhecido',
  }),
  'GET /v1/api/Usuarios/avisos': () => ({}),
  'PUT /v1/api/Usuarios/avisos': () => ({ body: { alertas: 'criticos-e-resumo', prazos: 'semanal' } }),
  'POST /avisos/{segredo}': async (two) => ({ params: { segredo: await newStop(two) } }),
  'GET /v1/api/Prazos/calendario': () => ({}),
  'POST /v1/api/Prazos/calendario': () => ({ body: { ligado: true } }),
  'GET /prazos/{segredo}.ics': async (two) => ({ params: { segredo: await newFeed(two) } }),
  'GET /v1/api/Vencimentos': (two) => ({
    query: { Situacao: 'vencidas', IdEmpresa: two.mine.companyId, Emitente: '11222333', VencimentoDe: '2026-01-01' },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/Vencimentos/resumo': (two) => ({
    query: { Por: 'fornecedor', IdEmpresa: two.mine.companyId },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/Vencimentos/selecao': (two) => ({ query: { IdEmpresa: two.mine.companyId }, id: 'IdEmpresa' }),
  'GET /v1/api/Vencimentos/planilha': (two) => ({ query: { IdEmpresa: two.mine.companyId }, id: 'IdEmpresa' }),
  'PUT /v1/api/Vencimentos/pagas': async (two) => ({
    body: { idsParcelas: [await newInstallment(two)], paga: true },
    id: 'idsParcelas',
  }),
  'GET /v1/api/Fretes': (two) => ({ query: { ...freight, IdEmpresa: two.mine.companyId }, id: 'IdEmpresa' }),
  'GET /v1/api/Fretes/planilha': (two) => ({ query: { ...freight, IdEmpresa: two.mine.companyId }, id: 'IdEmpresa' }),
  'GET /v1/api/Fretes/detalhes/{idDFe}': async (two) => ({ params: { idDFe: await newFreight(two) }, id: 'idDFe' }),
  'POST /v1/api/Fretes/estado': async (two) => ({
    body: { idDFe: await newFreight(two), regra: 'fr-quilo', certo: true, frase: 'x' },
    id: 'idDFe',
  }),
  'GET /v1/api/Fornecedores/{raiz}': async (two) => ({
    params: { raiz: await issuerOf(two) },
    query: { IdEmpresa: two.mine.companyId },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/Fornecedores/{raiz}/produtos': async (two) => ({
    params: { raiz: await issuerOf(two) },
    query: { IdEmpresa: two.mine.companyId, CampoPesquisa: 'papel', PaginaAtual: '1' },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/Dashboard': () => ({}),
  'GET /v1/api/Dashboard/dinheiro': () => ({}),
  'GET /v1/api/Plano': () => ({}),
  'POST /v1/api/Plano/pedir': () => ({ body: { tipoPlano: 2 } }),
  'GET /v1/api/Auditoria': () => ({
    query: {
      PaginaAtual: '1',
      Acao: 'empresa',
      CampoPesquisa: 'alfa',
      DataDe: '2020-01-01T00:00:00',
      DataAte: '2099-12-31T23:59:59',
    },
  }),
  'POST /v1/api/Auditoria/exportar': () => ({}),
  'GET /v1/api/Auditoria/exportacao/{bilhete}': async ({ product, mine }) => {
    const headers = { authorization: `Bearer ${mine.token}` }
    const response = await fetch(`${product.url}/v1/api/Auditoria/exportar`, { method: 'POST', headers })
    return { params: { bilhete: ticketOf(((await response.json()) as { data: { endereco: string } }).data) } }
  },
  'GET /v1/api/Avisos': async (two) => ({ query: { antesDe: await newAnnouncement(two) }, id: 'antesDe' }),
  'POST /v1/api/Avisos/lidos': async (two) => ({ body: { ate: await newAnnouncement(two) }, id: 'ate' }),
  'GET /v1/api/Alteracoes': () => ({ query: { desde: '0' } }),
  'GET /v1/api/Chaves': () => ({}),
  'POST /v1/api/Chaves': async (two) => {
    await forgetKeys(two)
    return { body: { nome: 'ERP', permissoes: ['documentos:ler'], validadeEmDias: 90 } }
  },
  'PUT /v1/api/Chaves': async (two) => ({
    body: { idChave: (await newKey(two, two.mine)).idChave, nome: 'Outro nome' },
    id: 'idChave',
  }),
  'POST /v1/api/Chaves/apagar': async (two) => ({
    body: { idChave: (await newKey(two, two.mine)).idChave },
    id: 'idChave',
  }),
  'GET /v1/api/Equipe': () => ({}),
  'PUT /v1/api/Equipe': () => ({ body: { nome: 'Ana Souza', exigeSegundoFator: false } }),
  'POST /v1/api/Equipe/convites': async (two) => {
    await newInvitation(two)
    return {
      body: {
        email: 'outra@exemplo.com.br',
        papel: 'auditor',
        idsEmpresas: [two.mine.companyId],
        acessoAte: '2099-12-31',
      },
      id: 'idsEmpresas',
    }
  },
  'POST /v1/api/Equipe/convites/reenviar': async (two) => ({
    body: { idConvite: (await newInvitation(two)).idConvite },
    id: 'idConvite',
  }),
  'POST /v1/api/Equipe/convites/cancelar': async (two) => ({
    body: { idConvite: (await newInvitation(two)).idConvite },
    id: 'idConvite',
  }),
  'PUT /v1/api/Equipe/pessoas': async (two) => ({
    body: {
      idPessoa: (await newPersonOf(two, two.mine, { role: 'leitura' })).idPessoa,
      papel: 'auditor',
      idsEmpresas: [two.mine.companyId],
      acessoAte: '2099-12-31',
    },
    id: 'idPessoa',
  }),
  'POST /v1/api/Equipe/pessoas/remover': async (two) => ({
    body: { idPessoa: (await newPersonOf(two, two.mine, { role: 'leitura' })).idPessoa },
    id: 'idPessoa',
  }),
  'POST /v1/api/Equipe/sair': async (two) => ({ token: (await newPersonOf(two, two.mine, { role: 'leitura' })).token }),
  'GET /v1/api/Auth/workspaces': () => ({}),
  'POST /v1/api/Auth/workspace': async (two) => {
    const { email, token } = await newcomer(two)
    const call = async (path: string, token: string, convite?: string) => {
      const headers = { authorization: `Bearer ${token}`, ...(convite && { 'content-type': 'application/json' }) }
      const body = convite && JSON.stringify({ convite })
      const url = new URL(path, two.product.url)
      const response = await fetch(url, { method: convite ? 'POST' : 'GET', headers, ...(body && { body }) })
      return ((await response.json()) as { data: unknown }).data
    }
    const [home] = (await call('/v1/api/Auth/workspaces', token)) as [{ wsId: string }]
    const invited = (await newInvitation(two, email)).token
    const joined = (await call('/v1/api/Convites/entrar', token, invited)) as { token: string }
    return { body: { wsId: home.wsId }, token: joined.token, id: 'wsId' }
  },
  'GET /v1/api/Convites/{token}': async (two) => ({ params: { token: (await newInvitation(two)).token } }),
  'POST /v1/api/Convites/aceitar': async (two) => {
    await forgetGuest(two)
    const { token } = await newInvitation(two)
    return { body: { convite: token, nome: 'Bia Lima', senha: 'segredo-da-bia', senhaNovamente: 'segredo-da-bia' } }
  },
  'POST /v1/api/Convites/entrar': async (two) => {
    const { email, token } = await newcomer(two)
    return { body: { convite: (await newInvitation(two, email)).token }, token }
  },
  'GET /v1/api/Webhooks': () => ({}),
  'POST /v1/api/Webhooks': async (two) => {
    await forgetWebhooks(two)
    return { body: { ...webhook, idsEmpresas: [two.mine.companyId] }, id: 'idsEmpresas' }
  },
  'PUT /v1/api/Webhooks': async (two) => ({
    body: { ...webhook, idWebhook: await newWebhook(two), ativo: false },
    id: 'idWebhook',
  }),
  'POST /v1/api/Webhooks/apagar': async (two) => ({ body: { idWebhook: await newWebhook(two) }, id: 'idWebhook' }),
  'POST /v1/api/Webhooks/trocar-segredo': async (two) => ({
    body: { idWebhook: await newWebhook(two) },
    id: 'idWebhook',
  }),
  'POST /v1/api/Webhooks/testar': async (two) => ({ body: { idWebhook: await newWebhook(two) }, id: 'idWebhook' }),
  'GET /v1/api/Webhooks/entregas': async (two) => ({ query: { idWebhook: await newWebhook(two) }, id: 'idWebhook' }),
  'POST /v1/api/Webhooks/reenviar': async (two) => ({ body: { idEntrega: await newDelivery(two) }, id: 'idEntrega' }),
  'GET /v1/api/DocumentosFiscais': (two) => ({
    query: {
      TipoDFe: '0',
      CampoPesquisa: 'a',
      PaginaAtual: '1',
      IdEmpresa: two.mine.companyId,
      Status: '2',
      TipoParticipacao: '1',
      DataDe: '2020-01-01T00:00:00',
      DataAte: '2099-12-31T23:59:59',
      Marca: 'por-conferir',
      Alerta: 'alto',
      Empresas: 'ativas',
      PrazoDe: '2020-01-01',
      PrazoAte: '2099-12-31',
      PrazoPara: 'ciencia',
      ValorDe: '0.01',
      ValorAte: '9999999.99',
      Ordem: 'prazo',
      Sentido: 'asc',
    },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/DocumentosFiscais/fora-do-periodo': (two) => ({
    query: {
      TipoDFe: '0',
      CampoPesquisa: 'a',
      IdEmpresa: two.mine.companyId,
      DataDe: '2020-01-01T00:00:00',
      DataAte: '2020-01-31T23:59:59',
    },
    id: 'IdEmpresa',
  }),
  'GET /v1/api/DocumentosFiscais/sugestoes': () => ({ query: { TipoDFe: '0', CampoPesquisa: 'ltda' } }),
  'GET /v1/api/DocumentosFiscais/detalhes/{idDfe}': async (two) => ({
    params: { idDfe: await complete(two, 2) },
    id: 'idDfe',
  }),
  'GET /v1/api/DocumentosFiscais/xml/{idDfe}': async (two) => ({
    params: { idDfe: await summary(two) },
    id: 'idDfe',
  }),
  'GET /v1/api/DocumentosFiscais/selecao': (two) => ({
    query: {
      TipoDFe: '2',
      CampoPesquisa: 'a',
      IdEmpresa: two.mine.companyId,
      Status: '2',
      TipoParticipacao: '7',
      DataDe: '2020-01-01T00:00:00',
      DataAte: '2099-12-31T23:59:59',
    },
    id: 'IdEmpresa',
  }),
  'POST /v1/api/DocumentosFiscais/exportar': async (two) => ({
    body: { idsDFe: [await complete(two, 0)], xml: true, pdf: true, planilha: true },
    id: 'idsDFe',
  }),
  'POST /v1/api/DocumentosFiscais/imprimir': async (two) => ({
    body: { idsDFe: [await complete(two, 2)] },
    id: 'idsDFe',
  }),
  'POST /v1/api/DocumentosFiscais/sair-com-tudo': async ({ owner }) => {
    await owner.query('delete from throttle')
    await owner.query("delete from document_export where request ? 'leaving'")
    return { body: { pdf: false } }
  },
  'GET /v1/api/DocumentosFiscais/exportacoes': () => ({}),
  'POST /v1/api/DocumentosFiscais/exportacoes/{id}/link': async (two) => ({
    params: { id: (await newExport(two)).idExportacao },
    id: 'id',
  }),
  'GET /v1/api/DocumentosFiscais/impressao/{bilhete}': async (two) => ({
    params: { bilhete: ticketOf(await newExport(two, 'imprimir')) },
  }),
  'GET /v1/api/DocumentosFiscais/exportacao/{bilhete}': async (two) => ({
    params: { bilhete: ticketOf(await newExport(two)) },
  }),
  'GET /v1/api/DocumentosFiscais/danfe/{idDfe}': async (two) => ({
    params: { idDfe: await complete(two, 0) },
    id: 'idDfe',
  }),
  'GET /v1/api/DocumentosFiscais/dacte/{idDfe}': async (two) => ({
    params: { idDfe: await complete(two, 2) },
    id: 'idDfe',
  }),
  'GET /v1/api/DocumentosFiscais/evento/{idDfe}/{idEvento}': async (two) => ({
    params: await printable(two),
    id: 'idDfe',
  }),
  'GET /v1/api/DocumentosFiscais/manifestacoes/{idDfe}': async (two) => ({
    params: { idDfe: await complete(two, 0) },
    id: 'idDfe',
  }),
  'POST /v1/api/DocumentosFiscais/manifestacoes/{idDfe}/reenviar': async (two) => ({
    params: { idDfe: await unconfirmed(two) },
    body: { tpEvento: 210220, sequencia: 2 },
    id: 'idDfe',
  }),
  'POST /v1/api/DocumentosFiscais/previa-manifestacao': (two) => ({
    body: { TipoDFe: 0, tipoManifestacao: 2, idsDFe: two.mine.nfe.slice(0, 20) },
    id: 'idsDFe',
  }),
  'GET /v1/api/DocumentosFiscais/textos-de-manifestacao': () => ({ query: { TipoDFe: '0', tipoManifestacao: '2' } }),
  'PUT /v1/api/DocumentosFiscais/textos-de-manifestacao': () => ({
    body: { TipoDFe: 0, tipoManifestacao: 2, justificativa: 'Mercadoria conferida', guardado: true },
  }),
  'POST /v1/api/DocumentosFiscais/manifestar-nfe': async (two) => ({
    body: { justificativa: 'A pedido do fiscal', idsDFe: [await summary(two)], tipoManifestacao: 1 },
    id: 'idsDFe',
  }),
  'POST /v1/api/DocumentosFiscais/manifestar-cte': async (two) => ({
    body: {
      justificativa: 'Serviço em desacordo com o combinado',
      idsDFe: [await payable(two)],
      tipoManifestacao: 610110,
    },
    id: 'idsDFe',
  }),
  'GET /v1/api/Empresas/obter-empresas': () => ({ query: { busca: 'alfa' } }),
  'GET /v1/api/Empresas/obter-empresa': (two) => ({ query: { id: two.mine.companyId }, id: 'id' }),
  'GET /v1/api/Empresas/arquivo-nao-lido': async (two) => {
    await two.owner.query(
      `insert into receipt (workspace_id, company_id, service, nsu, schema, problem, unread, content)
       select workspace_id, id, 0, -77, 'x', 'x', true, 'x' from company where public_id = $1 on conflict do nothing`,
      [two.mine.companyId],
    )
    return { query: { id: two.mine.companyId, servico: 'nfe', nsu: '-77' }, id: 'id' }
  },
  'GET /v1/api/Empresas/completude': (two) => ({ query: { id: two.mine.companyId }, id: 'id' }),
  'POST /v1/api/Empresas': async (two) => ({
    form: { Certificado: await certificate(two, '11222333000181'), Senha: 'segredo', Cnpj: '11.222.333/0001-81' },
  }),
  'PUT /v1/api/Empresas': (two) => ({
    form: {
      ...Object.fromEntries(switches.map((field) => [field, 'true'])),
      'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': 'false',
      IdEmpresa: two.mine.companyId,
      RazaoSocial: 'EMPRESA ALFA LTDA',
      Email: 'fiscal@exemplo.com.br',
      Uf: '35',
      'CertificadoDigital.Certificado': new File([], ''),
      'CertificadoDigital.Senha': '',
    },
    id: 'IdEmpresa',
  }),
  'POST /v1/api/Empresas/remover-certificado': async (two) => ({ query: { id: await newCompany(two) }, id: 'id' }),
  'POST /v1/api/Empresas/arquivar': async (two) => ({ query: { id: await newCompany(two) }, id: 'id' }),
  'POST /v1/api/Empresas/reativar': async (two) => ({ query: { id: await newCompany(two) }, id: 'id' }),
  'POST /v1/api/Empresas/logo': (two) => ({ form: { IdEmpresa: two.mine.companyId, Logo: logo() }, id: 'IdEmpresa' }),
  'GET /v1/api/Empresas/logo': async (two) => ({ query: { id: await companyWithLogo(two) }, id: 'id' }),
  'POST /v1/api/Empresas/remover-logo': async (two) => ({ query: { id: await companyWithLogo(two) }, id: 'id' }),
  'GET /v1/api/Empresas/certificado-de-teste': () => ({}),
  'POST /v1/api/Empresas/certificados-em-lote': () => ({
    body: { senhas: '12.ABC.345/01DE-35;segredo', totalDeArquivos: 1 },
  }),
  'POST /v1/api/Empresas/certificados-em-lote/{id}/arquivos': async (two) => ({
    params: { id: await newBatch(two) },
    body: { arquivos: [{ nome: 'empresa.pfx', conteudo: 'AAAA', senha: 'segredo' }], ultimos: true },
    id: 'id',
  }),
  'GET /v1/api/Empresas/certificados-em-lote': () => ({}),
  'GET /v1/api/Empresas/certificados-em-lote/{id}/arquivos': async (two) => ({
    params: { id: await newBatch(two) },
    id: 'id',
  }),
  'POST /v1/api/Empresas/sincronizar': (two) => ({ query: { idEmpresa: two.mine.companyId }, id: 'idEmpresa' }),
}
