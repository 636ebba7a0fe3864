import type { FamilyId } from './families/id.ts'

/** A party of a document, with the code of its role (codes of `roleNames`). */
export interface Party {
  role: number
  /** CNPJ of 14 positions or CPF of 11; a foreign party has none and is not listed. */
  taxId: string
  name?: string
}

/** Facts extracted from an NF-e or CT-e (leiautes 1.10 to 4.00; NT 2014.002 for the resumo). */
export interface DocumentFacts {
  kind: 'document'
  type: FamilyId
  root: string
  /** False for a `resNFe`, which carries neither destinatário nor items. */
  complete: boolean
  chave: string
  mod: string
  /** Null where the family has no series. */
  serie: number | null
  numero: number
  /** `dhEmi` or, in old layouts, `dEmi`, exactly as written; '' when the file has no date there. */
  issuedAt: string
  authorizedAt?: string
  protocol?: string
  issuerTaxId: string
  issuerName: string
  issuerIe?: string
  issuerUf?: string
  recipientTaxId?: string
  recipientName?: string
  /** Decimal text; '0' when the layout has no value. */
  amount: string
  parties: Party[]
  /** '' for a `resNFe`, which does not say it. */
  tpAmb: string
  /** Natureza da operação or da prestação, as written; a `resNFe` does not say it. */
  natOp?: string
  tpNF?: string
  /** 0 normal, 1 complemento, 2 anulação, 3 substituição, 5 simplificado, 6 its substituição. */
  tpCTe?: string
  /** The chave of the CT-e that this one replaces, complements (the first of several) or annuls: infCteSub, infCteComp, infCteAnu. */
  corrects?: string
  /** The chave of the document that this one replaces, which then has the family's `replacedStatus`. */
  replaces?: string
  situation: 'authorized' | 'denied' | 'cancelled' | 'no-protocol'
  cStat?: string
  digest?: string
}

/**
 * Facts extracted from an event (MOC 7.0 evento genérico; MOC CT-e 4.00 §3.7; NT 2014.002 for the
 * resumo).
 */
export interface EventFacts {
  kind: 'event'
  type: FamilyId
  root: string
  /** True for a `resEvento`. */
  summary: boolean
  /** A `resEvento` is always of a registered event; `duplicate`: refused as already registered. */
  registration: 'registered' | 'duplicate' | 'none'
  chave: string
  tpEvento: number
  nSeqEvento: number
  cOrgao: string
  authorTaxId?: string
  dhEvento: string
  registeredAt?: string
  protocol?: string
  cStat?: string
  /** `descEvento` or, without one, `xEvento`, as written. */
  description: string
  /** `xJust`, `xCorrecao`, `xObs`, or the corrections of a CT-e as "grupo/campo: valor; …". */
  justification?: string
  /** The event that this one undoes, if any: its code and, when the file has it, its protocol. */
  undoes?: { tpEvento?: number; protocol?: string }
  /** Tax ids that the event admits as interested in the document (110150, `detEvento/autXML`). */
  named?: string[]
}

/** A file of an unknown kind, with the reason as a sentence for people. */
export interface UnknownFacts {
  kind: 'unknown'
  root?: string
  reason: string
}

/** Something odd in a file that was read nevertheless. */
export type Problem = { code: string; message: string }

/**
 * Texts under their official names, as the file writes them; absent and empty ones are undefined
 * (MOC 7.0 and MOC CT-e 4.00, leiautes).
 */
export type Fields = Readonly<Record<string, string | undefined>>

/** A document that this one names, and the elements that do so, as `NFref/refNFe` or `infDoc/infNFe` (MOC 7.0; MOC CT-e 4.00). */
export interface Reference {
  by: string
  chave: string
}

/** The groups of IBS and CBS of an item or of a CT-e; of each the texts, those of the groups inside it too (NT 2025.002, grupo UB; NT 2025.001 RTC). */
export interface ReformGroups {
  /** CST, cClassTrib, indDoacao, and vBC, vIBS, vCBS of gIBSCBS. */
  IBSCBS: Fields
  /** pIBSUF, pDif, vDif, pDevTrib, vDevTrib, pRedAliq, pAliqEfet, vIBSUF; gIBSMun and gCBS alike. */
  gIBSUF: Fields
  gIBSMun: Fields
  gCBS: Fields
  gIBSCBSMono: Fields
  gTransfCred: Fields
  gAjusteCompet: Fields
  gEstornoCred: Fields
  gTribRegular: Fields
  gTribCompraGov: Fields
}

/** A det of an NF-e: `prod` with the texts of the groups of its taxes (MOC 7.0; NT 2025.002). */
export interface NfeItem extends ReformGroups {
  nItem?: string
  prod: Fields
  rastro: Fields[]
  infAdProd?: string
  ICMS: Fields
  IPI: Fields
  PIS: Fields
  COFINS: Fields
  ISSQN: Fields
  IS: Fields
  DFeReferenciado: Fields
}

/** Fields of an NF-e or its resumo for display (MOC 7.0; NT 2025.002; NT 2014.002). */
export interface NfeDetails {
  type: 'nfe'
  root: string
  /** Problems of the file itself. */
  problems: Problem[]
  ide: Fields
  /** A party with its address: emit, dest, retirada, entrega. */
  emit: Fields
  dest: Fields
  retirada: Fields
  entrega: Fields
  det: NfeItem[]
  ICMSTot: Fields
  ISSQNtot: Fields
  retTrib: Fields
  gCompraGov: Fields
  /** vBCIBSCBS, vIBS, vIBSUF, vIBSMun, vCBS, vIS and vNFTot, and the texts of gMono and gEstornoCred, wherever the layout keeps them. */
  IBSCBSTot: Fields
  fat: Fields
  dup: Fields[]
  detPag: Fields[]
  transp: Fields
  transporta: Fields
  veicTransp: Fields
  reboque: Fields[]
  vol: Fields[]
  infAdic: Fields
  compra: Fields
  infProt: Fields
  references: Reference[]
}

/** A party of a CT-e: the group that names it (`toma` also for toma4 and tomaTerceiro), and whether it pays. */
export interface CteParty {
  group: 'emit' | 'rem' | 'exped' | 'receb' | 'dest' | 'toma'
  pays: boolean
  fields: Fields
}

/** Fields of a CT-e of any layout for display (MOC CT-e 4.00, Anexo I). */
export interface CteDetails extends ReformGroups {
  type: 'cte'
  root: string
  /** Problems of the file itself. */
  problems: Problem[]
  ide: Fields
  parties: CteParty[]
  /** vTPrest and vRec or vTRec. */
  vPrest: Fields
  Comp: Fields[]
  ICMS: Fields
  gCompraGov: Fields
  /** vTotTrib, vTotDFe, infAdFisco. */
  imp: Fields
  infCarga: Fields
  infQ: Fields[]
  infServico: Fields
  /** Vehicles of the road up to layout 3.00, of the CT-e OS and of the GTV-e. */
  veic: Fields[]
  /** GTV-e only: the valuables carried, by kind. */
  infEspecie: Fields[]
  /** Simplificado only: its deliveries. */
  det: Fields[]
  compl: Fields
  /** xCampo and xTexto. */
  ObsCont: Fields[]
  /** dProg, dIni, dFim, hProg, hIni, hFim, and dPrev of the road. */
  Entrega: Fields
  fat: Fields
  dup: Fields[]
  infProt: Fields
  references: Reference[]
}
