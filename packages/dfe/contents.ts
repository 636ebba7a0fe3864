import type { CteDetails, Fields, NfeDetails, NfeItem, Problem, Reference, ReformGroups } from './facts.ts'

// Limits of the layout (MOC 7.0: det, dup, rastro); it sets none for documents cited by a CT-e.
const itemsMax = 990
const duesMax = 120
const lotsMax = 500
const citedMax = 2_000
const componentsMax = 990
const problemsMax = 20
const textMax = 120
const infAdProdMax = 500

const prodNames = [
  'cProd',
  'cEAN',
  'xProd',
  'NCM',
  'CEST',
  'cBenef',
  'CFOP',
  'uCom',
  'qCom',
  'vUnCom',
  'vProd',
  'cEANTrib',
  'uTrib',
  'qTrib',
  'vUnTrib',
  'vFrete',
  'vSeg',
  'vDesc',
  'vOutro',
  'indTot',
  'xPed',
  'nItemPed',
] as const
const icmsNames = [
  'orig',
  'CST',
  'CSOSN',
  'vBC',
  'pRedBC',
  'pICMS',
  'vICMS',
  'vBCST',
  'pICMSST',
  'vICMSST',
  'vFCP',
  'vFCPST',
  'vICMSDeson',
  'vICMSDif',
  'vBCSTRet',
  'vICMSSTRet',
  'vFCPSTRet',
  'pCredSN',
  'vCredICMSSN',
  'qBCMono',
  'adRemICMS',
  'vICMSMono',
  'qBCMonoReten',
  'adRemICMSReten',
  'vICMSMonoReten',
  'qBCMonoRet',
  'adRemICMSRet',
  'vICMSMonoRet',
] as const
const difalNames = ['vBCUFDest', 'pICMSUFDest', 'vFCPUFDest', 'vICMSUFDest', 'vICMSUFRemet'] as const
const ipiNames = ['CST', 'vBC', 'pIPI', 'qUnid', 'vUnid', 'vIPI'] as const
const iiNames = ['vBC', 'vDespAdu', 'vII', 'vIOF'] as const
const pisNames = ['CST', 'vBC', 'pPIS', 'qBCProd', 'vAliqProd', 'vPIS'] as const
const cofinsNames = ['CST', 'vBC', 'pCOFINS', 'qBCProd', 'vAliqProd', 'vCOFINS'] as const
const issqnNames = ['vBC', 'vAliq', 'vISSQN', 'cMunFG', 'cListServ', 'indISS'] as const
const isNames = ['CSTIS', 'cClassTribIS', 'vBCIS', 'pIS', 'adRemIS', 'pISEspec', 'uTrib', 'qTrib', 'vIS'] as const
const reformNames = ['CST', 'cClassTrib', 'indDoacao', 'vBC', 'vIBS', 'vCBS'] as const
const shareNames = ['pDif', 'vDif', 'pDevTrib', 'vDevTrib', 'pRedAliq', 'pAliqEfet'] as const
const stateNames = ['pIBSUF', ...shareNames, 'vIBSUF'] as const
const cityNames = ['pIBSMun', ...shareNames, 'vIBSMun'] as const
const unionNames = ['pCBS', ...shareNames, 'tpALCZFMCBS', 'vCBS'] as const
const monoNames = [
  'qBCMono',
  'adRemIBS',
  'adRemCBS',
  'vIBSMono',
  'vCBSMono',
  'qBCMonoReten',
  'adRemIBSReten',
  'vIBSMonoReten',
  'adRemCBSReten',
  'vCBSMonoReten',
  'qBCMonoRet',
  'adRemIBSRet',
  'vIBSMonoRet',
  'adRemCBSRet',
  'vCBSMonoRet',
  'pDifIBS',
  'vIBSMonoDif',
  'pDifCBS',
  'vCBSMonoDif',
  'vTotIBSMonoItem',
  'vTotCBSMonoItem',
] as const
const transferNames = ['vIBS', 'vCBS'] as const
const adjustmentNames = ['competApur', 'vIBS', 'vCBS'] as const
const reversalNames = ['vIBSEstCred', 'vCBSEstCred'] as const
const regularNames = [
  'CSTReg',
  'cClassTribReg',
  'pAliqEfetRegIBSUF',
  'vTribRegIBSUF',
  'pAliqEfetRegIBSMun',
  'vTribRegIBSMun',
  'pAliqEfetRegCBS',
  'vTribRegCBS',
] as const
const purchaseNames = ['pAliqIBSUF', 'vTribIBSUF', 'pAliqIBSMun', 'vTribIBSMun', 'pAliqCBS', 'vTribCBS'] as const
const governmentNames = ['tpEnteGov', 'pRedutor', 'tpOperGov'] as const
const lotNames = ['nLote', 'qLote', 'dFab', 'dVal'] as const
const dueNames = ['nDup', 'dVenc', 'vDup'] as const
const componentNames = ['xNome', 'vComp'] as const
const cargoNames = ['vCarga', 'proPred', 'xOutCat'] as const
const measureNames = ['cUnid', 'tpMed', 'qCarga'] as const
const totalNames = [
  'vProd',
  'vDesc',
  'vICMSDeson',
  'vST',
  'vFCPST',
  'vICMSMonoReten',
  'vFrete',
  'vSeg',
  'vOutro',
  'vII',
  'vIPI',
  'vIPIDevol',
  'vNF',
] as const
const reformTotalNames = [
  'vBCIBSCBS',
  'vIBSUF',
  'vIBSMun',
  'vIBS',
  'vCBS',
  'vIBSMono',
  'vCBSMono',
  'vIBSMonoReten',
  'vCBSMonoReten',
  'vIBSMonoRet',
  'vCBSMonoRet',
  'vIBSEstCred',
  'vCBSEstCred',
  'vIS',
  'vNFTot',
] as const
const headNames = [
  'CRT',
  'mod',
  'dhEmi',
  'tpAmb',
  'finNFe',
  'tpNF',
  'tpNFDebito',
  'tpNFCredito',
  'modFrete',
  'tpCTe',
  'tpServ',
  'modal',
  'UFIni',
  'cMunIni',
  'xMunIni',
  'UFFim',
  'cMunFim',
  'xMunFim',
] as const
const partyNames = ['CNPJ', 'CPF', 'xNome', 'UF', 'cMun', 'xMun'] as const

/** Fields under their official names. Amounts, quantities and rates are exact decimal text in its shortest form (`10.5`), other texts as written. */
export type Named<Names extends readonly string[]> = Partial<Record<Names[number], string>>

/**
 * IBS, CBS and IS of an NF-e item or of a CT-e; groups absent from the file are undefined (NT
 * 2025.002, grupo UB; NT 2025.001 RTC).
 */
export interface ReformContents {
  /** Undefined without the group IBSCBS. */
  IBSCBS?: Named<typeof reformNames>
  gIBSUF?: Named<typeof stateNames>
  gIBSMun?: Named<typeof cityNames>
  gCBS?: Named<typeof unionNames>
  gIBSCBSMono?: Named<typeof monoNames>
  gTransfCred?: Named<typeof transferNames>
  gAjusteCompet?: Named<typeof adjustmentNames>
  gEstornoCred?: Named<typeof reversalNames>
  gTribRegular?: Named<typeof regularNames>
  gTribCompraGov?: Named<typeof purchaseNames>
}

/** An item of an NF-e: product and taxes, each group only when the file has it (MOC 7.0, `det`; NT 2025.002). */
export interface ItemContents extends ReformContents {
  /** `nItem`, or the position of a det without a valid one. */
  nItem: number
  /** cEAN and cEANTrib only when they are a GTIN. */
  prod: Named<typeof prodNames>
  lots: Named<typeof lotNames>[]
  chassi?: string
  infAdProd?: string
  ICMS?: Named<typeof icmsNames>
  ICMSUFDest?: Named<typeof difalNames>
  IPI?: Named<typeof ipiNames>
  II?: Named<typeof iiNames>
  PIS?: Named<typeof pisNames>
  COFINS?: Named<typeof cofinsNames>
  ISSQN?: Named<typeof issqnNames>
  IS?: Named<typeof isNames>
  vItem?: string
  /** The item that this one takes back or corrects: DFeReferenciado. */
  refers?: { chaveAcesso: string; nItem?: number }
}

interface CommonContents {
  head: Named<typeof headNames>
  /** The seller or the carrier. */
  issuer: Named<typeof partyNames>
  gCompraGov?: Named<typeof governmentNames>
  /** `cobr/dup`. */
  due: Named<typeof dueNames>[]
  plates: string[]
  /** Values that are no valid numbers and were skipped, and lists longer than the layout allows. */
  problems: Problem[]
}

/** Contents of an NF-e (MOC 7.0; NT 2025.002). */
export interface NfeContents extends CommonContents {
  type: 'nfe'
  recipient: Named<typeof partyNames>
  /** 990 at most. */
  items: ItemContents[]
  totals: Named<typeof totalNames>
  /** IBSCBSTot, ISTot and vNFTot; undefined without any of them. */
  reformTotals?: Named<typeof reformTotalNames>
  /** `compra/xPed` of the note and its items, without duplicates. */
  orders: string[]
}

/** Contents of a CT-e of any layout (MOC CT-e 4.00, Anexo I; NT 2025.001 RTC). */
export interface CteContents extends CommonContents, ReformContents {
  type: 'cte'
  /** The tomador; undefined when the document names none. */
  payer?: { taxId?: string; xNome?: string }
  vTPrest?: string
  components: Named<typeof componentNames>[]
  ICMS?: Named<typeof icmsNames>
  cargo: Named<typeof cargoNames>
  measures: Named<typeof measureNames>[]
  /** The documents that it carries, replaces or completes, 2,000 at most. */
  cited: Reference[]
}

/**
 * Extracts the contents of a parsed document to store and to judge; null for a resNFe, which has no
 * items. Pure; its size is bounded by the layout, whatever the file holds.
 */
export function contentsOf(details: NfeDetails | CteDetails): NfeContents | CteContents | null {
  if (details.root === 'resNFe') return null
  const read = reading()
  return details.type === 'nfe' ? nfeContents(details, read) : cteContents(details, read)
}

function nfeContents(nfe: NfeDetails, read: Reading): NfeContents {
  const items = read.some('det', nfe.det, itemsMax).map((item, index) => itemContents(item, index, read))
  const orders = [nfe.compra.xPed, ...items.map(({ prod }) => prod.xPed)].flatMap((text) => text?.slice(0, 60) ?? [])
  return {
    type: 'nfe',
    head: read.fields(headNames, { ...nfe.transp, ...nfe.emit, ...nfe.ide }),
    issuer: read.fields(partyNames, nfe.emit),
    recipient: read.fields(partyNames, nfe.dest),
    gCompraGov: read.group(governmentNames, nfe.gCompraGov),
    items,
    totals: read.fields(totalNames, nfe.ICMSTot),
    reformTotals: read.group(reformTotalNames, nfe.IBSCBSTot),
    due: read.some('dup', nfe.dup, duesMax).map((dup) => read.fields(dueNames, dup)),
    orders: [...new Set(orders)],
    plates: platesOf([nfe.veicTransp, ...nfe.reboque]),
    problems: read.problems,
  }
}

function itemContents(item: NfeItem, index: number, read: Reading): ItemContents {
  const nItem = /^[1-9]\d{0,2}$/.test(item.nItem ?? '') ? Number(item.nItem) : index + 1
  read.at(`O item ${nItem}`)
  const prod = read.fields(prodNames, item.prod)
  for (const name of ['cEAN', 'cEANTrib'] as const) if (!/^\d{8,14}$/.test(prod[name] ?? '')) delete prod[name]
  const { chaveAcesso, nItem: referred } = item.DFeReferenciado
  const contents: ItemContents = {
    nItem,
    prod,
    lots: item.rastro.slice(0, lotsMax).map((lot) => read.fields(lotNames, lot)),
    chassi: item.chassi?.slice(0, textMax),
    infAdProd: item.infAdProd?.slice(0, infAdProdMax),
    ICMS: read.group(icmsNames, item.ICMS),
    ICMSUFDest: read.group(difalNames, item.ICMSUFDest),
    IPI: read.group(ipiNames, item.IPI),
    II: read.group(iiNames, item.II),
    PIS: read.group(pisNames, item.PIS),
    COFINS: read.group(cofinsNames, item.COFINS),
    ISSQN: read.group(issqnNames, item.ISSQN),
    IS: read.group(isNames, item.IS),
    ...reformContents(item, read),
    vItem: read.number('vItem', item.vItem),
    refers:
      chaveAcesso?.length === 44
        ? { chaveAcesso, nItem: /^[1-9]\d{0,2}$/.test(referred ?? '') ? Number(referred) : undefined }
        : undefined,
  }
  read.at('O documento')
  return contents
}

function reformContents(groups: ReformGroups, read: Reading): ReformContents {
  return {
    IBSCBS: read.group(reformNames, groups.IBSCBS),
    gIBSUF: read.group(stateNames, groups.gIBSUF),
    gIBSMun: read.group(cityNames, groups.gIBSMun),
    gCBS: read.group(unionNames, groups.gCBS),
    gIBSCBSMono: read.group(monoNames, groups.gIBSCBSMono),
    gTransfCred: read.group(transferNames, groups.gTransfCred),
    gAjusteCompet: read.group(adjustmentNames, groups.gAjusteCompet),
    gEstornoCred: read.group(reversalNames, groups.gEstornoCred),
    gTribRegular: read.group(regularNames, groups.gTribRegular),
    gTribCompraGov: read.group(purchaseNames, groups.gTribCompraGov),
  }
}

function cteContents(cte: CteDetails, read: Reading): CteContents {
  const payer = cte.parties.find(({ pays }) => pays)?.fields
  const taxId = [payer?.CNPJ, payer?.CPF].find((id) => id !== undefined && !/^0+$/.test(id))
  const emit = cte.parties.find(({ group }) => group === 'emit')?.fields
  return {
    type: 'cte',
    head: read.fields(headNames, { ...emit, ...cte.ide }),
    issuer: read.fields(partyNames, emit ?? {}),
    gCompraGov: read.group(governmentNames, cte.gCompraGov),
    payer: payer && { taxId, xNome: payer.xNome?.slice(0, textMax) },
    vTPrest: read.number('vTPrest', cte.vPrest.vTPrest),
    components: read.some('Comp', cte.Comp, componentsMax).map((each) => read.fields(componentNames, each)),
    ICMS: read.group(icmsNames, cte.ICMS),
    ...reformContents(cte, read),
    cargo: read.fields(cargoNames, cte.infCarga),
    measures: read.some('infQ', cte.infQ, componentsMax).map((each) => read.fields(measureNames, each)),
    cited: read.some('chave', cte.references, citedMax),
    due: read.some('dup', cte.dup, duesMax).map((dup) => read.fields(dueNames, dup)),
    plates: platesOf(cte.veic),
    problems: read.problems,
  }
}

function platesOf(vehicles: readonly Fields[]): string[] {
  const plates = vehicles.slice(0, 10).flatMap(({ placa }) => (placa && placa.length <= 8 ? placa.toUpperCase() : []))
  return [...new Set(plates)]
}

type Reading = ReturnType<typeof reading>

// Collects problems in one list, because the readers of the groups then need no error handling.
function reading() {
  const problems: Problem[] = []
  let place = 'O documento'
  const tell = (code: string, message: string) => {
    if (problems.length < problemsMax) problems.push({ code, message })
  }
  const number = (name: string, text: string | undefined): string | undefined => {
    if (text === undefined) return undefined
    const shortest = decimalText(text)
    if (shortest === null) tell('number', `${place} traz em ${name} o que não é um número do leiaute.`)
    return shortest ?? undefined
  }
  const fields = <Names extends readonly string[]>(names: Names, group: Fields): Named<Names> => {
    const found: Record<string, string> = {}
    for (const name of names) {
      const text = group[name]
      if (text === undefined) continue
      const kept = numeric.test(name) ? number(name, text) : text.slice(0, textMax)
      if (kept !== undefined) found[name] = kept
    }
    return found as Named<Names>
  }
  return {
    problems,
    number,
    fields,
    at: (where: string) => {
      place = where
    },
    /** Undefined for a group that is not in the file. */
    group: <Names extends readonly string[]>(names: Names, group: Fields): Named<Names> | undefined =>
      Object.keys(group).length === 0 ? undefined : fields(names, group),
    some: <T>(name: string, list: readonly T[], max: number): T[] => {
      if (list.length > max)
        tell('too-many', `${place} traz ${list.length} grupos ${name}; são lidos os primeiros ${max}.`)
      return list.slice(0, max)
    },
  }
}

// qCom, vProd, pICMS, adRemIBS: the layouts begin the names of all numbers so.
const numeric = /^(?:[qvp][A-Z]|adRem)/

/**
 * Normalizes a decimal of the layouts to its shortest exact text: `10.5000` becomes `10.5`; null if
 * it is not a decimal or has more than 15 digits before or 10 after the point (MOC 7.0, tipos de
 * dados).
 */
export function decimalText(text: string): string | null {
  if (text.length > 40 || !/^\d+(?:\.\d+)?$/.test(text)) return null
  let [whole = '', rest = ''] = text.split('.')
  const digits = whole.replace(/^0+(?=\d)/, '')
  while (rest.endsWith('0')) rest = rest.slice(0, -1)
  if (digits.length > 15 || rest.length > 10) return null
  return rest === '' ? digits : `${digits}.${rest}`
}
