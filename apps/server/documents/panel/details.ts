import { type CteDetails, type NfeDetails, readDetails } from '@vigia/dfe/read'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/companies.ts'
import type { Context, Database } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { getFile } from '../files.ts'
import { missingText } from '../missing.ts'
import { type DocumentListRow, readRows } from '../rows.ts'
import { cteItems, cteSections } from './cte-texts.ts'
import { nfeItems, nfeSections } from './nfe-texts.ts'
import { numberText, type PanelItem, type Section } from './texts.ts'
import { readTimeline, type TimelineRow } from './timeline.ts'

/** A document that another one names. */
interface RelatedDocument {
  relation: string
  chave: string
  family: 'nfe' | 'cte' | 'other'
  /** Null: it is not in this workspace, or hidden there. */
  id: bigint | null
}

/** Everything that is known of a document, for people. */
interface Details {
  row: DocumentListRow
  name: string
  sections: Section[]
  items: PanelItem[]
  related: RelatedDocument[]
  timeline: TimelineRow[]
  missing: string | null
}

/** What a document says, what happened to it and which documents it names. Refuses ids like `getFile`. */
export async function getDetails(
  ctx: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  publicId: string,
): Promise<Details> {
  return readWorkspace(ctx, workspaceId, async (ctx) => {
    const file = await getFile(ctx, workspaceId, publicId)
    const [row] = await readRows(ctx.db, workspaceId, sql`where d.workspace_id = ${workspaceId} and d.id = ${file.id}`)
    const said = readDetails(unzipDocument(file.content))
    const { cnpj, taxId } = await readParties(ctx.db, workspaceId, file.id)
    const names = namesOf(said)
    names.set(taxId, row!.issuer_name)
    names.set(cnpj, row!.company_name)
    return {
      row: row!,
      name: nameOf(row!, taxId),
      sections: said === null ? [] : said.type === 'nfe' ? nfeSections(said) : cteSections(said),
      items: said === null ? [] : said.type === 'nfe' ? nfeItems(said) : cteItems(said),
      related: said === null ? [] : await readRelated(ctx.db, workspaceId, row!, said),
      timeline: await readTimeline(ctx.db, workspaceId, {
        row: row!,
        receivedAt: file.received_at,
        names,
        cnpj,
        protocol: said?.infProt.nProt ?? null,
      }),
      missing: missingText(row!, new Date()),
    }
  })
}

const modelNames: Record<string, string> = { 55: 'NF-e', 57: 'CT-e', 64: 'GTV-e', 65: 'NFC-e', 67: 'CT-e OS' }

// People have the article of nobody: "da" is for companies.
function nameOf({ chave, number, issuer_name }: DocumentListRow, issuerTaxId: string): string {
  const model = modelNames[chave.slice(20, 22)] ?? 'Documento'
  return `${model} ${numberText(number)} ${issuerTaxId.length === 11 ? 'de' : 'da'} ${issuer_name}`
}

async function readParties(db: Database, workspaceId: number, id: bigint) {
  return db
    .selectFrom('document as d')
    .innerJoin('company as c', (join) =>
      join.onRef('c.workspace_id', '=', 'd.workspace_id').onRef('c.id', '=', 'd.company_id'),
    )
    .innerJoin('supplier as s', (join) =>
      join.onRef('s.workspace_id', '=', 'd.workspace_id').onRef('s.id', '=', 'd.supplier_id'),
    )
    .select(['c.cnpj', 's.tax_id as taxId'])
    .where('d.workspace_id', '=', workspaceId)
    .where('d.id', '=', id)
    .executeTakeFirstOrThrow()
}

function namesOf(said: NfeDetails | CteDetails | null): Map<string, string> {
  const parties =
    said === null
      ? []
      : said.type === 'nfe'
        ? [said.emit, said.dest, said.transporta]
        : said.parties.map(({ fields }) => fields)
  return new Map(
    parties.flatMap(({ CNPJ, CPF, xNome }) => {
      const taxId = CNPJ ?? CPF
      return taxId && xNome ? [[taxId, xNome] as const] : []
    }),
  )
}

// By the elements that name them; the same ones have had several spellings.
const relations: [by: RegExp, relation: string][] = [
  [/^NFref\/refNFe(Sig)?$/, 'Nota referenciada'],
  [/^NFref\/refCTe$/, 'CT-e referenciado'],
  [/^gPagAntecipado\//, 'Documento do pagamento antecipado'],
  [/^gCompraGov\//, 'Documento anterior da compra governamental'],
  [/^DFeReferenciado\//, 'Documento referenciado por um item'],
  [/^exportInd\//, 'Nota da exportação indireta'],
  [/^infNFe\//, 'Nota transportada'],
  [/^infNFeTranspParcial\//, 'Nota transportada em parte'],
  [/^infDCe\//, 'Declaração de conteúdo transportada'],
  [/^(idDocAntEle|infDocAnt)\//, 'CT-e anterior'],
  [/^infC[tT]eSub\//, 'CT-e substituído por este'],
  [/^infC[tT]eComp\//, 'CT-e complementado por este'],
  [/^infC[tT]eAnu\//, 'CT-e anulado por este'],
  [/^infCTeMultimodal\//, 'CT-e do transporte multimodal'],
  [/\/refCTeCanc$/, 'CT-e cancelado que este repõe'],
  [/^infGTVe\//, 'GTV-e'],
  [/^infDocRef\//, 'Bilhete de passagem'],
]
const returns = '4'

function relationOf(by: string, said: NfeDetails | CteDetails): string {
  const relation = relations.find(([pattern]) => pattern.test(by))?.[1] ?? 'Documento citado'
  const returned = said.type === 'nfe' && said.ide.finNFe === returns && relation === 'Nota referenciada'
  return returned ? 'Nota devolvida por esta' : relation
}

const families: Record<string, RelatedDocument['family']> = { 55: 'nfe', 57: 'cte', 64: 'cte', 67: 'cte' }

async function readRelated(
  db: Database,
  workspaceId: number,
  { company_id, chave }: DocumentListRow,
  said: NfeDetails | CteDetails,
): Promise<RelatedDocument[]> {
  const references = said.references.filter((reference) => reference.chave !== chave)
  if (references.length === 0) return []
  const hiding = await readHiding({ db }, workspaceId)
  const found = await db
    .selectFrom('document as d')
    .select(['d.id', 'd.chave', 'd.company_id'])
    .where('d.workspace_id', '=', workspaceId)
    .where(sql<boolean>`d.chave = any (${references.map((reference) => reference.chave)}::text[])`)
    .where((where) => where.and(shownConditions(hiding, 'd')))
    .execute()
  return references.map(({ by, chave }) => {
    const here = found.filter((one) => one.chave === chave)
    // Of several companies that have it, rather the one whose document this is.
    const best = here.find((one) => one.company_id === company_id) ?? here[0]
    return {
      relation: relationOf(by, said),
      chave,
      family: families[chave.slice(20, 22)] ?? 'other',
      id: best?.id ?? null,
    }
  })
}
