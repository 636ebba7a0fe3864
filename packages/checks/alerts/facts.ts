import { chaveParts } from '@vigia/dfe/chave'
import { cnpjBase } from '@vigia/dfe/cnpj'
import { cte } from '@vigia/dfe/families/cte'
import type { Role } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { familyById } from '@vigia/dfe/families/lookup'
import { nfe, nfeRole } from '@vigia/dfe/families/nfe'
import type { CteDetails, DocumentFacts, Fields, NfeDetails } from '@vigia/dfe/read'
import { contactsOf } from './contacts.ts'
import { itemsOf, type NfeItems } from './items.ts'
import { cents, instantOf } from './values.ts'

/**
 * Input of the rules: one document as one company of a workspace received it. Dates are texts with
 * offset, amounts decimal text in reais. Made by `alertFacts`; plain data that can be stored.
 */
export interface AlertFacts {
  type: FamilyId
  /** False for a resumo (`resNFe`), to which rules on `nfe` and `recipient` do not apply. */
  complete: boolean
  chave: string
  issuedAt: string
  /** `dhRecbto` of the authorisation. */
  authorizedAt?: string
  /** `contacts`: keys of telephone, e-mail and address, of a complete NF-e; undefined: unknown. */
  issuer: AlertParty & { crt?: string; contacts?: string[] }
  recipient?: AlertParty & { indIEDest?: string }
  amount: string
  /** '' for a resumo. */
  tpAmb: string
  tpNF?: string
  natOp?: string
  situation: DocumentFacts['situation']
  /** `receives`: destinatário of an NF-e, or tomador of a CT-e: only these are purchases. */
  part: 'receives' | 'issues' | 'other'
  /** CNPJ and CPF of the terceiros in autXML, without carrier and company; undefined: unknown. */
  readers?: string[]
  /** `digVal` of the protocol or of the resumo. */
  digest?: string
  /** `digVal` of the resumo of the same chave, when both are here. */
  summaryDigest?: string
  /** Result of the verification (`Proof` of packages/dfe); undefined: unknown, or a resumo. */
  proof?: string
  /** Fields that form the chave, as the document states them. */
  stated?: Fields
  /** Documents that this one names, with the element that does so. */
  references: { by: string; chave: string }[]
  nfe?: NfeFacts
  cte?: CteFacts
  events: AlertEvent[]
  company: AlertCompany
  /** Actions in this workspace on the document, besides events, with their instants. */
  marks: { kind: 'exported' | 'booked' | 'delivered' | 'matched'; at: string }[]
  /** Last instant for the conclusive answer, while it is open. */
  deadline?: string
}

export interface AlertParty {
  taxId?: string
  name: string
  ie?: string
  uf?: string
}

/** Facts that only a complete NF-e has. Amounts are decimal text in reais. */
export interface NfeFacts {
  finNFe: string
  modFrete?: string
  /** Whether a carrier or volumes and a plate are named; undefined: read before it was stored. */
  transport?: { named: boolean; plate: boolean }
  cfops: string[]
  tPag: string[]
  vLiq?: string
  dup: { dVenc?: string; vDup?: string }[]
  /** `ICMSTot`, with `vServ` of the ISSQN. */
  totals: Fields
  /** Σ over the items, in cents, of the fields that `ICMSTot` repeats. */
  sums: Record<string, number>
  itemCount: number
  /** One text for each item, of `cProd`, `qCom`, `vUnCom`. */
  items: string[]
  /** Undefined: read before this was kept. */
  inside?: NfeItems
  /** Destination of the goods; undefined if the note was read before this was stored. */
  destination?: { idDest: string; indPres: string; elsewhere: boolean }
}

/** Facts of the service of a CT-e. Amounts are decimal text in reais; cities are IBGE codes. */
export interface CteFacts {
  tpCTe: string
  tpServ: string
  payer?: string
  ufIni: string
  ufFim: string
  cMunIni: string
  cMunFim: string
  vCarga?: string
}

/** A registered event of the document. */
export interface AlertEvent {
  tpEvento: number
  nSeqEvento: number
  /** Registration, else `dhEvento`. */
  at: string
  authorTaxId?: string
  /** The corrections of a carta de correção; for other events the justification. */
  text?: string
}

/** The company as the workspace knows it, by the base (raiz) of its CNPJ. */
export interface AlertCompany {
  base: string
  /** In homologação every document is a test document, so S25 does not apply. */
  tpAmb: '1' | '2'
  /**
   * Establishments with names, IEs and UF from confirmed notes; IEs empty: unknown. `since`:
   * earlier documents could not be captured. `until`: end of complete capture by service; null:
   * gaps; undefined: now.
   */
  establishments: {
    taxId: string
    names: string[]
    ies: string[]
    uf?: string
    since?: string
    until?: Record<FamilyId, string | null>
  }[]
  /** Services that are captured: S44 needs NF-e, S21 needs CT-e. */
  captures: Record<FamilyId, boolean>
}

/** Facts that the workspace adds to those of the document. */
export type Known = Pick<AlertFacts, 'company' | 'marks' | 'deadline' | 'proof' | 'summaryDigest'>

/** The facts of a document: of its reading, its details (null: unread), its events, each once, and of what the workspace knows. */
export function alertFacts(
  document: DocumentFacts,
  details: NfeDetails | CteDetails | null,
  events: AlertEvent[],
  known: Known,
): AlertFacts {
  const parties = document.parties.map(({ role, taxId }) => ({ role, base: baseOf(taxId) }))
  const { roles, summary } = familyById(document.type)
  const own = roles.filter(({ code }) => parties.some(({ role, base }) => role === code && base === known.company.base))
  const is = (...sides: Role['side'][]) => own.some(({ side }) => sides.includes(side))
  const receives = is('received', 'paid') || (!document.complete && summary !== null)
  const note = details?.type === nfe.id ? details : undefined
  const freight = details?.type === cte.id ? details : undefined
  const ide = details?.ide
  return {
    type: document.type,
    complete: document.complete,
    chave: document.chave,
    issuedAt: document.issuedAt,
    authorizedAt: document.authorizedAt,
    issuer: {
      taxId: document.issuerTaxId,
      name: document.issuerName,
      ie: document.issuerIe,
      uf: document.issuerUf,
      crt: note?.emit.CRT,
      contacts: note && document.complete && !isAvulsa(document.chave) ? contactsOf(note.emit) : undefined,
    },
    recipient: document.complete
      ? {
          taxId: document.recipientTaxId,
          name: document.recipientName ?? '',
          ie: note?.dest.IE,
          uf: note?.dest.UF,
          indIEDest: note?.dest.indIEDest,
        }
      : undefined,
    amount: document.amount,
    tpAmb: document.tpAmb,
    tpNF: document.tpNF,
    natOp: document.natOp,
    situation: document.situation,
    part: is('issued') ? 'issues' : receives ? 'receives' : 'other',
    readers: document.complete && document.type === nfe.id ? readersOf(document, known.company.base) : undefined,
    digest: document.digest,
    ...known,
    stated: document.complete ? statedOf(document, ide) : undefined,
    references: details && 'references' in details ? details.references : [],
    nfe: note && document.complete ? nfeFacts(note) : undefined,
    cte: freight && cteFacts(freight),
    events,
  }
}

function readersOf({ parties }: DocumentFacts, companyBase: string): string[] {
  const withRole = (code: number) => parties.flatMap(({ role, taxId }) => (role === code ? taxId : []))
  const carriers = new Set(withRole(nfeRole.transportador).map(baseOf))
  const named = withRole(nfeRole.terceiro)
  return [...new Set(named)].filter((taxId) => baseOf(taxId) !== companyBase && !carriers.has(baseOf(taxId))).sort()
}

/** Base of a CNPJ; a CPF stays whole; '' if missing. */
export function baseOf(taxId = ''): string {
  return taxId.length === 14 ? cnpjBase(taxId) : taxId
}

function statedOf(document: DocumentFacts, ide: Fields | undefined): Fields {
  return {
    cUF: ide?.cUF,
    mod: ide?.mod,
    serie: ide?.serie,
    numero: ide?.nNF ?? ide?.nCT,
    tpEmis: ide?.tpEmis,
    cNF: ide?.cNF ?? ide?.cCT,
    issuer: document.issuerTaxId,
  }
}

const summed = ['vProd', 'vDesc', 'vFrete', 'vSeg', 'vOutro', 'vICMS', 'vICMSST', 'vIPI'] as const

function nfeFacts(nfe: NfeDetails): NfeFacts {
  const sums: Record<string, number> = {}
  for (const name of summed) {
    const totalName = name === 'vICMSST' ? 'vST' : name
    sums[totalName] = 0
    for (const { prod, ICMS, IPI } of nfe.det) {
      if (name === 'vProd' && prod.indTot === '0') continue
      const value = name === 'vIPI' ? IPI.vIPI : name.startsWith('vICMS') ? ICMS[name] : prod[name]
      sums[totalName] += cents(value)
    }
  }
  return {
    finNFe: nfe.ide.finNFe ?? '1',
    modFrete: nfe.transp.modFrete,
    transport: {
      named: [nfe.transporta, ...nfe.vol].some((group) => Object.keys(group).length > 0),
      plate: [nfe.veicTransp, ...nfe.reboque].some(({ placa }) => placa !== undefined),
    },
    cfops: [...new Set(nfe.det.flatMap(({ prod }) => prod.CFOP ?? []))],
    tPag: nfe.detPag.flatMap(({ tPag }) => tPag ?? []),
    vLiq: nfe.fat.vLiq,
    dup: nfe.dup.map(({ dVenc, vDup }) => ({ dVenc, vDup })),
    totals: { ...nfe.ICMSTot, vServ: nfe.ISSQNtot.vServ },
    sums,
    itemCount: nfe.det.length,
    items: nfe.det.map(({ prod }) => [prod.cProd, Number(prod.qCom), Number(prod.vUnCom)].join('|')),
    inside: itemsOf(nfe),
    destination: {
      idDest: nfe.ide.idDest ?? '',
      indPres: nfe.ide.indPres ?? '',
      elsewhere: [nfe.entrega, nfe.retirada].some((place) => Object.keys(place).length > 0),
    },
  }
}

function cteFacts({ ide, parties, infCarga }: CteDetails): CteFacts {
  const payer = parties.find(({ pays }) => pays)?.fields
  return {
    tpCTe: ide.tpCTe ?? '',
    tpServ: ide.tpServ ?? '',
    payer: payer?.CNPJ ?? payer?.CPF,
    ufIni: ide.UFIni ?? '',
    ufFim: ide.UFFim ?? '',
    cMunIni: ide.cMunIni ?? '',
    cMunFim: ide.cMunFim ?? '',
    vCarga: infCarga.vCarga,
  }
}

/** The instant and text of the first cancellation (110111, 110112), of the events or '' when the document itself says that it is cancelled; null when it is not. */
export function cancellationOf({ events, situation }: Pick<AlertFacts, 'events' | 'situation'>): string | null {
  const times = events.filter(({ tpEvento }) => tpEvento === 110111 || tpEvento === 110112).map(({ at }) => at)
  if (times.length > 0) return times.toSorted((a, b) => instantOf(a) - instantOf(b))[0]!
  return situation === 'cancelled' ? '' : null
}

/**
 * Whether it is a purchase, and so counts for habits: received from another party, in production,
 * authorised (even if cancelled later), no entry note of the issuer, no nota de crédito or débito
 * (`finNFe` 5, 6).
 */
export function isPurchase(facts: AlertFacts): boolean {
  return (
    facts.part === 'receives' &&
    facts.tpAmb !== '2' &&
    (facts.situation === 'authorized' || facts.situation === 'cancelled') &&
    facts.tpNF !== '0' &&
    facts.nfe?.finNFe !== '5' &&
    facts.nfe?.finNFe !== '6' &&
    facts.issuedAt !== ''
  )
}

/** Whether the chave is that of the Fisco (séries 890 to 919), who writes the issuer's data. */
export function isAvulsa(chave: string): boolean {
  const { serie } = chaveParts(chave)
  return serie >= 890 && serie <= 919
}

/** `tpEmis` in the chave; before layout 2.00 it had none, and nothing is said of these. */
export function tpEmisOf(chave: string): string {
  return chaveParts(chave).tpEmis
}
