import { parseReceived, type ReceivedXml, type XmlElement, XmlError } from '@vigia/xml/parse'
import { looksLikeChave } from './chave.ts'
import { child, children, shownText, value } from './document.ts'
import type { CteDetails, CteParty, Fields, NfeDetails, NfeItem, Reference, ReformGroups } from './facts.ts'
import type { FamilyId } from './families/id.ts'
import { familyOfRoot } from './families/lookup.ts'
import { tomadorOf } from './read-cte.ts'
import { faultProblems } from './reading.ts'

/** `detailsOf` of a received file; null for one that is not well formed. It never throws. */
export function readDetails(xml: Uint8Array): NfeDetails | CteDetails | null {
  try {
    return detailsOf(parseReceived(xml))
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    return null
  }
}

/** The fields of an NF-e, resNFe or CT-e for display; null for anything else (MOC 7.0; MOC CT-e 4.00). */
export function detailsOf({ root, faults }: ReceivedXml): NfeDetails | CteDetails | null {
  const family = familyOfRoot(root)
  const details = family && readers[family.id]?.(root)
  return details ? { ...details, problems: faultProblems(faults) } : null
}

type Details = Omit<NfeDetails, 'problems'> | Omit<CteDetails, 'problems'>

const readers: Partial<Record<FamilyId, (root: XmlElement) => Details | null>> = {
  nfe(root) {
    if (root.name === 'resNFe') return summaryDetails(root)
    const infNFe = child(root.name === 'NFe' ? root : child(root, 'NFe'), 'infNFe')
    return infNFe ? nfeDetails(root, infNFe) : null
  },
  cte(root) {
    const infCte = child(root, 'infCte') ?? root.children.map((inner) => child(inner, 'infCte')).find(Boolean)
    return infCte ? cteDetails(root, infCte) : null
  },
}

function nfeDetails(root: XmlElement, infNFe: XmlElement): Omit<NfeDetails, 'problems'> {
  const total = child(infNFe, 'total')
  const transp = child(infNFe, 'transp')
  const groups = (path: string) => children(infNFe, path).map(texts)
  return {
    type: 'nfe',
    root: root.name,
    ide: texts(child(infNFe, 'ide')),
    emit: party(child(infNFe, 'emit')),
    dest: party(child(infNFe, 'dest')),
    retirada: party(child(infNFe, 'retirada')),
    entrega: party(child(infNFe, 'entrega')),
    det: children(infNFe, 'det').map(nfeItem),
    ICMSTot: texts(child(total, 'ICMSTot')),
    ISSQNtot: texts(child(total, 'ISSQNtot')),
    retTrib: texts(child(total, 'retTrib')),
    gCompraGov: texts(child(infNFe, 'ide/gCompraGov')),
    IBSCBSTot: {
      ...texts(child(total, 'IBSCBSTot/gMono')),
      ...texts(child(total, 'IBSCBSTot/gEstornoCred')),
      ...picked(total, [
        'IBSCBSTot/vBCIBSCBS',
        'IBSCBSTot/gIBS/vIBS',
        'IBSCBSTot/gIBS/gIBSUF/vIBSUF',
        'IBSCBSTot/gIBS/gIBSMun/vIBSMun',
        'IBSCBSTot/gCBS/vCBS',
        'ISTot/vIS',
        'vNFTot',
      ]),
    },
    fat: texts(child(infNFe, 'cobr/fat')),
    dup: groups('cobr/dup'),
    // Up to layout 3.10 the payments of an NF-e stood in pag itself.
    detPag: [...groups('pag/detPag'), ...groups('pag')].filter(({ tPag }) => tPag !== undefined),
    transp: texts(transp),
    transporta: party(child(transp, 'transporta')),
    veicTransp: texts(child(transp, 'veicTransp')),
    reboque: groups('transp/reboque'),
    vol: groups('transp/vol'),
    infAdic: texts(child(infNFe, 'infAdic')),
    compra: texts(child(infNFe, 'compra')),
    infProt: texts(child(root, 'protNFe/infProt')),
    references: referencesOf(infNFe),
  }
}

function nfeItem(det: XmlElement): NfeItem {
  const imposto = child(det, 'imposto')
  return {
    nItem: det.attributes.nItem,
    prod: texts(child(det, 'prod')),
    rastro: children(det, 'prod/rastro').map(texts),
    infAdProd: value(det, 'infAdProd'),
    // The group has the name of its situation: ICMS00, ICMSSN102, IPITrib, PISAliq.
    ICMS: texts(child(imposto, 'ICMS')?.children[0]),
    IPI: texts(child(imposto, 'IPI/IPITrib') ?? child(imposto, 'IPI/IPINT')),
    PIS: texts(child(imposto, 'PIS')?.children[0]),
    COFINS: texts(child(imposto, 'COFINS')?.children[0]),
    ISSQN: texts(child(imposto, 'ISSQN')),
    IS: texts(child(imposto, 'IS')),
    ...reformGroups(imposto),
    DFeReferenciado: texts(child(det, 'DFeReferenciado')),
  }
}

function reformGroups(imposto: XmlElement | undefined): ReformGroups {
  const group = child(imposto, 'IBSCBS')
  const taxed = child(group, 'gIBSCBS')
  return {
    IBSCBS: { ...texts(group), ...picked(taxed, ['vBC', 'vIBS', 'gCBS/vCBS']) },
    gIBSUF: allTexts(child(taxed, 'gIBSUF')),
    gIBSMun: allTexts(child(taxed, 'gIBSMun')),
    gCBS: allTexts(child(taxed, 'gCBS')),
    gIBSCBSMono: allTexts(child(group, 'gIBSCBSMono')),
    gTransfCred: texts(child(group, 'gTransfCred')),
    gAjusteCompet: texts(child(group, 'gAjusteCompet')),
    gEstornoCred: texts(child(group, 'gEstornoCred')),
    gTribRegular: texts(child(taxed, 'gTribRegular')),
    gTribCompraGov: texts(child(taxed, 'gTribCompraGov')),
  }
}

// A resNFe has the names of an NF-e without its groups (NT 2014.002).
function summaryDetails(root: XmlElement): Omit<NfeDetails, 'problems'> {
  return {
    ...nfeDetails(root, root),
    ide: picked(root, ['dhEmi', 'dEmi', 'tpNF']),
    emit: picked(root, ['CNPJ', 'CPF', 'xNome', 'IE']),
    ICMSTot: picked(root, ['vNF']),
    infProt: picked(root, ['nProt', 'dhRecbto']),
    references: [],
  }
}

function cteDetails(root: XmlElement, infCte: XmlElement): Omit<CteDetails, 'problems'> {
  // The Simplificado and the GTV-e have no infCTeNorm around these groups.
  const norm = child(infCte, 'infCTeNorm') ?? infCte
  const prest = child(infCte, 'vPrest') ?? child(infCte, 'total')
  const imp = child(infCte, 'imp')
  const carga = child(norm, 'infCarga')
  const service = child(norm, 'infServico')
  const groups = (node: XmlElement | undefined, path: string) => children(node, path).map(texts)
  return {
    type: 'cte',
    root: root.name,
    ide: texts(child(infCte, 'ide')),
    parties: cteParties(infCte),
    vPrest: texts(prest),
    Comp: groups(prest, 'Comp'),
    ICMS: texts(child(imp, 'ICMS')?.children[0]),
    ...reformGroups(imp),
    gCompraGov: texts(child(infCte, 'ide/gCompraGov')),
    imp: texts(imp),
    infCarga: texts(carga),
    infQ: [...groups(carga, 'infQ'), ...groups(service, 'infQ')],
    infServico: texts(service),
    veic: [
      ...groups(norm, 'infModal/rodo/veic'),
      ...groups(norm, 'infModal/rodoOS/veic'),
      ...groups(infCte, 'detGTV/infVeiculo'),
    ],
    infEspecie: groups(infCte, 'detGTV/infEspecie'),
    det: groups(infCte, 'det'),
    compl: texts(child(infCte, 'compl')),
    ObsCont: children(infCte, 'compl/ObsCont').map((note) => ({
      ...texts(note),
      xCampo: note.attributes.xCampo && shownText(note.attributes.xCampo),
    })),
    Entrega: deliveryTimes(infCte, norm),
    fat: texts(child(norm, 'cobr/fat')),
    dup: groups(norm, 'cobr/dup'),
    infProt: texts(child(root, 'protCTe/infProt')),
    references: referencesOf(infCte),
  }
}

function cteParties(infCte: XmlElement): CteParty[] {
  const tomador = tomadorOf(infCte)
  const named = (['emit', 'rem', 'exped', 'receb', 'dest'] as const).flatMap((group) => {
    const element = child(infCte, group)
    return element ? [{ group, pays: element === tomador, fields: party(element) }] : []
  })
  if (!tomador || named.some(({ pays }) => pays)) return named
  return [...named, { group: 'toma', pays: true, fields: party(tomador) }]
}

function deliveryTimes(infCte: XmlElement, norm: XmlElement): Fields {
  const when = child(infCte, 'compl/Entrega')?.children ?? []
  const dPrev = value(norm, 'infModal/rodo/dPrev') ?? value(norm, 'infDoc/infNFe/dPrev')
  const entries = when.flatMap((group) => Object.entries(texts(group)))
  return Object.fromEntries(dPrev === undefined ? entries : [...entries, ['dPrev', dPrev]])
}

// Names repeat in no layout within one group; of a file in which they do, the first counts.
function texts(group: XmlElement | undefined): Fields {
  const found = new Map<string, string>()
  for (const { name, text, children } of group?.children ?? []) {
    if (children.length > 0 || found.has(name)) continue
    const shown = shownText(text)
    if (shown !== '') found.set(name, shown)
  }
  return Object.fromEntries(found)
}

// Texts of a group and of its direct subgroups; no name occurs twice in them.
function allTexts(group: XmlElement | undefined): Fields {
  const inner = (group?.children ?? []).filter((element) => element.children.length > 0)
  return Object.assign({}, ...inner.map(texts), texts(group))
}

// enderEmit, enderDest, enderReme, enderExped, enderReceb, enderToma: one for each party.
function party(group: XmlElement | undefined): Fields {
  return { ...texts(group?.children.find((element) => /^ender[A-Z]/.test(element.name))), ...texts(group) }
}

function picked(node: XmlElement | undefined, paths: string[]): Fields {
  return Object.fromEntries(
    paths.flatMap((path) => {
      const text = value(node, path)
      return text === undefined ? [] : [[path.slice(path.lastIndexOf('/') + 1), text]]
    }),
  )
}

const withoutReferences: ReadonlySet<string> = new Set(['Signature', 'infNFeSupl', 'infCTeSupl', 'infRespTec'])

// Searches everywhere else, because new groups that name documents come every year. Forty-four equal
// digits mean a chave hidden from readers of autXML (MOC CT-e 4.00, infDoc).
function referencesOf(document: XmlElement): Reference[] {
  const found = new Map<string, string>()
  const visit = (element: XmlElement, path: string) => {
    for (const inner of element.children) {
      if (withoutReferences.has(inner.name)) continue
      const by = `${path}/${inner.name}`
      const text = inner.children.length === 0 ? inner.text.trim() : ''
      if (looksLikeChave(text) && !/^(.)\1+$/.test(text) && !found.has(text)) found.set(text, by)
      visit(inner, inner.name)
    }
  }
  visit(document, document.name)
  return [...found].map(([chave, by]) => ({ by, chave }))
}
