import { isDeepStrictEqual } from 'node:util'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { familyById } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { newCertificate, type PfxFile } from '../../../tests/support/certificates.ts'
import { readConfig } from '../config.ts'
import type { Arrival } from '../documents/arrival.ts'
import { createPrinter } from '../documents/print/printer.ts'
import { receive } from '../documents/receive.ts'
import type { Context } from '../platform/context.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import type { Session } from '../platform/http/session.ts'
import { createPublicIds } from '../platform/ids.ts'
import { createLogger } from '../platform/log.ts'
import type { Service } from '../platform/service.ts'
import { testSigner } from '../platform/signer/testing.ts'
import { insertAccount, insertCompany, newWorkspace, roomyStorage, testSession } from '../platform/testing.ts'
import { createVault } from '../platform/vault.ts'
import { loadCandidates } from './candidates.ts'

export const author = '44555666000181'

/** An instant `days` before now, as documents write it. */
export function daysAgo(days: number): string {
  return `${new Date(Date.now() - days * 86_400_000 - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`
}

/** The context of a process on the database at `url`. */
export function contextOf(url: string): Context {
  return {
    db: openDatabase(url),
    config: readConfig({ PORT: '0' }, '/'),
    log: createLogger('silent'),
    vault: createVault(Buffer.alloc(32, 7)),
    signer: testSigner(url),
    ids: createPublicIds(Buffer.alloc(16, 7)),
    printer: createPrinter(),
    storage: roomyStorage,
  }
}

export interface Office {
  session: Session
  workspaceId: number
  companyId: number
}

/** A workspace with an account and a company, with a certificate unless told otherwise. */
export async function newOffice(
  ctx: Pick<Context, 'db' | 'signer'>,
  { cnpj = author, certificate = usualCertificate(cnpj) as PfxFile | null } = {},
): Promise<Office> {
  const workspaceId = await newWorkspace(ctx.db)
  const email = `ana${workspaceId}@exemplo.com.br`
  const { id: accountId } = await insertAccount(ctx.db, workspaceId, { email, enteredAt: null })
  const company = await insertCompany(ctx.db, workspaceId, { cnpj })
  const office = { workspaceId, companyId: company.id, session: testSession(workspaceId, accountId) }
  if (certificate) await giveCertificate(ctx, office, cnpj, certificate)
  return office
}

/** Makes `certificate` the current one of the company. */
export async function giveCertificate(
  ctx: Pick<Context, 'db' | 'signer'>,
  { workspaceId, companyId, session }: Office,
  cnpj: string,
  certificate: PfxFile,
): Promise<void> {
  const { sealed, keyId } = await ctx.signer.seal(workspaceId, companyId, certificate.key)
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    await sql`update certificate set replaced_at = now() where company_id = ${companyId} and replaced_at is null`.execute(
      db,
    )
    await db
      .insertInto('certificate')
      .values({
        workspace_id: workspaceId,
        company_id: companyId,
        holder_cnpj: cnpj,
        holder_name: 'EMPRESA',
        issuer: 'TESTE',
        serial_number: '1',
        valid_from: new Date('2020-01-01'),
        valid_to: new Date('2049-01-01'),
        certificate_pem: certificate.pem,
        chain_pem: [],
        key_encrypted: sealed,
        key_id: keyId,
        uploaded_by: session.accountId,
      })
      .execute()
  })
}

/** Lets documents arrive at the company, and be judged. */
export async function store(
  ctx: Pick<Context, 'db' | 'log'>,
  { workspaceId, companyId }: Office,
  service: Service,
  arrivals: Arrival[],
  cnpj = author,
): Promise<void> {
  await inWorkspace(ctx, workspaceId, async (ctx) => {
    await receive(ctx, { workspaceId, companyId, cnpj }, service, arrivals)
    await sql`update document set judged_at = now() where workspace_id = ${workspaceId}`.execute(ctx.db)
  })
}

/** Makes these the facts that were read inside documents. */
export async function readInside(
  ctx: Pick<Context, 'db'>,
  { workspaceId }: Office,
  numbers: readonly number[],
  { purpose = null, ...facts }: { purpose?: number | null; tpNF?: string; cfops?: string[] },
): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      insert into document_facts (workspace_id, document_id, company_id, type, chave, purchase, standing, counted, month, at, cents, company_base, issuer_base, sums, purpose, facts)
      select workspace_id, id, company_id, type, chave, true, true, false, now(), now(), 0, '', '', '{}', ${purpose}::int, ${JSON.stringify(facts)}::jsonb
        from document where workspace_id = ${workspaceId} and number = any (${numbers}::int[])
      on conflict (workspace_id, document_id) do update set purpose = excluded.purpose, facts = excluded.facts`.execute(
      db,
    ),
  )
}

/** Documents of the workspace whose columns differ from what their family decides, and from what left from here. */
export async function dueDiffers(ctx: Pick<Context, 'db'>, workspaceId: number, now = new Date()): Promise<unknown[]> {
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const columns = ['id', 'answer_due_at', 'answer_due'] as const
    const rows = await db.selectFrom('document').select(columns).where('workspace_id', '=', workspaceId).execute()
    const left = (state: string) => sql`from outgoing_event o
      where o.workspace_id = ${workspaceId} and o.document_id = d.id and (${sql.raw(state)})`
    const { rows: wrong } = await sql`
      select * from (
        select d.chave, json_build_array(d.asked, d.asked_by, d.unconfirmed, d.answered, coalesce(d.own_answers, '[]'))::jsonb as said,
               json_build_array(
                 (select o.tp_evento ${left("o.state = 'asked'")} order by o.id desc limit 1),
                 (select o.requested_by ${left("o.state = 'asked'")} order by o.id desc limit 1),
                 (select case when o.state = 'unconfirmed' then o.tp_evento end ${left("o.state <> 'rejected'")} order by o.id desc limit 1),
                 exists (select ${left("o.state <> 'rejected' and o.tp_evento in (210200, 210220, 210240)")}),
                 (select coalesce(json_agg(json_build_object('tpEvento', o.tp_evento, 'sequence', o.sequence, 'pending', o.state in ('waiting', 'sending')) order by o.id), '[]')
                    ${left("o.state in ('waiting', 'sending', 'registered') or o.state = 'unconfirmed' and o.c_stat is not null")}))::jsonb as sent
          from document d where d.workspace_id = ${workspaceId}) x
       where said <> sent`.execute(db)
    const told = new Map(rows.map((row) => [row.id, row.answer_due_at && [row.answer_due_at, row.answer_due]]))
    const candidates = await loadCandidates({ db }, workspaceId, [...told.keys()])
    const due = candidates.flatMap(({ documentId, chave, type, own, ...rest }) => {
      // Events with unknown outcome only count for the number of the next event.
      const due = familyById(type).open({ ...rest, own: own.filter(({ doubt }) => doubt !== 'untold') }, now)
      const both = { told: told.get(documentId), open: due && [due.until, due.tpEvento] }
      return isDeepStrictEqual(both.told, both.open) ? [] : { chave, ...both }
    })
    return [...due, ...wrong]
  })
}

const usual = new Map<string, PfxFile>()

// An RSA key takes long to make: those who need no other certificate share one.
function usualCertificate(cnpj: string): PfxFile {
  const known = usual.get(cnpj) ?? newCertificate(cnpj)
  usual.set(cnpj, known)
  return known
}

export interface CteOptions {
  number?: number
  issuer?: string
  /** Payer of the CT-e, as its remetente. */
  payer?: string
  issuedAt?: string
  nProt?: string | null
  uf?: string
}

/** The chave of CT-e `number` of `issuer`. */
export function cteChave({ number = 1, issuer = author, uf = '35' }: CteOptions = {}): string {
  const body = `${uf}2611${issuer}57001${String(number).padStart(9, '0')}1${String(number * 7).padStart(8, '0')}`
  return `${body}${chaveCheckDigit(body)}`
}

/** A small authorised CT-e with just what the product reads. */
export function cteProc(options: CteOptions = {}): string {
  const {
    number = 1,
    issuer = author,
    payer = '11222333000181',
    issuedAt = daysAgo(2),
    nProt = '135260000765432',
  } = options
  const chave = cteChave(options)
  const protocol =
    nProt === null
      ? ''
      : `<protCTe versao="4.00"><infProt><tpAmb>2</tpAmb><chCTe>${chave}</chCTe><dhRecbto>${issuedAt}</dhRecbto><nProt>${nProt}</nProt><cStat>100</cStat><xMotivo>x</xMotivo></infProt></protCTe>`
  return `<cteProc xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><CTe><infCte Id="CTe${chave}" versao="4.00"><ide><mod>57</mod><serie>1</serie><nCT>${number}</nCT><dhEmi>${issuedAt}</dhEmi><tpAmb>2</tpAmb><toma3><toma>0</toma></toma3></ide><emit><CNPJ>${issuer}</CNPJ><xNome>TRANSPORTES</xNome></emit><rem><CNPJ>${payer}</CNPJ><xNome>QUEM PAGA</xNome></rem><vPrest><vTPrest>100.00</vTPrest></vPrest></infCte></CTe>${protocol}</cteProc>`
}
