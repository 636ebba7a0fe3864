import { alertFacts, baseOf, isPurchase } from '@vigia/checks/alerts/facts'
import { contingencyKey } from '@vigia/checks/alerts/history'
import { type KeptFacts, keptFacts } from '@vigia/checks/alerts/kept'
import { cents as centsOf, instantOf } from '@vigia/checks/alerts/values'
import { tripOf } from '@vigia/checks/freight/trip'
import { findingsOf, presenceOf, type ReformFinding } from '@vigia/checks/reform/findings'
import { cnpjBase } from '@vigia/dfe/cnpj'
import { cte, cteRole } from '@vigia/dfe/families/cte'
import type { FamilyId } from '@vigia/dfe/families/id'
import { nfe, nfeRole } from '@vigia/dfe/families/nfe'
import {
  type CteContents,
  type CteDetails,
  contentsOf,
  type DocumentFacts,
  type NfeContents,
  type NfeDetails,
} from '@vigia/dfe/read'
import { primaryRole, rolesOf } from '@vigia/dfe/roles'
import { cents, type DocumentSums, type Side, sumsOf } from './sums.ts'
import { termsOf } from './terms.ts'

// Runs in threads: what a document says inside, as it is stored for one company.

/** Contents of a document as kept: columns of `document_facts`, its words, its parcels, and columns of `document`. */
export interface Inside {
  side: Side | null
  purchase: boolean
  /** Milliseconds. */
  at: number
  cents: number
  companyBase: string
  issuerBase: string
  purpose: number | null
  contingency: string | null
  lane: string | null
  way: string | null
  facts: KeptFacts
  /** Chaves that it names. */
  cites: string[]
  /** Null: a summary, which has nothing inside. */
  contents: InsideContents | null
}

export interface InsideContents {
  sums: DocumentSums
  terms: string[]
  /** `document.reform` */
  reform: number
  findings: Pick<ReformFinding, 'code' | 'sentence'>[]
  ibs: number | null
  cbs: number | null
  dues: { number: string; dueOn: string; amount: number }[]
}

/** Reads the contents of a document for the company with this CNPJ. */
export function insideOf(document: DocumentFacts, details: NfeDetails | CteDetails | null, cnpj: string): Inside {
  const company = { base: cnpjBase(cnpj), tpAmb: '1', establishments: [], captures: {} as never } as const
  const facts = alertFacts(document, details, [], { company: { ...company, establishments: [] }, marks: [] })
  const contents = details && contentsOf(details)
  const trip = contents?.type === cte.id ? tripOf(contents) : undefined
  const at = instantOf(document.issuedAt)
  const role = sideOf(document.type, rolesOf(document, cnpj))
  const bought = contents !== null && isBought(contents)
  const side = contents === null || (role === 0 && !bought) ? null : role
  // Normal freight that the company pays.
  const isCompared =
    trip !== undefined && side === 2 && trip.tpServ === '0' && (trip.tpCTe === '0' || trip.tpCTe === '5')
  return {
    side,
    purchase: isPurchase(facts),
    at: Number.isFinite(at) ? at : 0,
    cents: centsOf(document.amount),
    companyBase: company.base,
    issuerBase: baseOf(facts.issuer.taxId),
    purpose: contents?.type === nfe.id ? digitOf(facts.nfe?.finNFe) : null,
    contingency: contingencyKey(facts),
    lane: isCompared ? `${trip.from.uf}-${trip.to.uf}` : null,
    way: isCompared ? `${trip.from.cMun}-${trip.to.cMun}` : null,
    facts: keptFacts(facts, trip),
    cites: [...new Set(facts.references.map(({ chave }) => chave))],
    contents: contents && {
      sums: sumsOf(contents, side),
      terms: termsOf(contents),
      reform: presenceOf(contents),
      findings: findingsOf(contents).map(({ code, sentence }) => ({ code, sentence })),
      ...amountsOf(contents),
      dues: (side === 0 ? contents.due : []).map(({ nDup, dVenc, vDup }) => ({
        number: nDup ?? '',
        // Without a due date it is still owed: PostgreSQL sorts infinity after every day.
        dueOn: isDay(dVenc) ? dVenc : 'infinity',
        amount: cents(vDup),
      })),
    },
  }
}

const digitOf = (text: string | undefined) => (/^\d$/.test(text ?? '') ? Number(text) : null)

function sideOf(type: FamilyId, roles: number): Side | null {
  if (type === cte.id) return (roles & (1 << cteRole.tomador)) !== 0 ? 2 : null
  if (type !== nfe.id) return null
  const role = primaryRole(nfe.id, roles)
  if (role === nfeRole.emitente) return 1
  return role === nfeRole.destinatario ? 0 : null
}

// Entry notes of the issuer, devoluções, and notas de crédito e débito (finNFe 4, 5, 6) bring nothing that is bought.
function isBought(contents: NfeContents | CteContents): boolean {
  const { tpNF, finNFe } = contents.head
  return contents.type === nfe.id && tpNF !== '0' && finNFe !== '4' && finNFe !== '5' && finNFe !== '6'
}

function isDay(text: string | undefined): text is string {
  return (
    /^(?:19|20)\d{2}-\d{2}-\d{2}$/.test(text ?? '') &&
    !Number.isNaN(Date.parse(text!)) &&
    new Date(text!).toISOString().startsWith(text!)
  )
}

function amountsOf(contents: NfeContents | CteContents): { ibs: number | null; cbs: number | null } {
  const said = contents.type === nfe.id ? contents.reformTotals : contents.IBSCBS
  const amount = (text: string | undefined) => (text === undefined ? null : cents(text))
  return { ibs: amount(said?.vIBS), cbs: amount(said?.vCBS) }
}
