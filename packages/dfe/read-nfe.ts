import { chaveParts } from './chave.ts'
import { child, children, value, type XmlElement } from './document.ts'
import type { DocumentFacts, Party, Problem, UnknownFacts } from './facts.ts'
import { registeredStatuses } from './families/events.ts'
import {
  addParty,
  amountOf,
  authorizationOf,
  chaveOf,
  dateOf,
  identificationOf,
  modelOf,
  optionalDateOf,
  taxIdOf,
  taxIdOfChave,
  unknown,
} from './reading.ts'
import { ufByCode } from './uf.ts'

export function readNfe(root: XmlElement, problems: Problem[]): DocumentFacts | UnknownFacts {
  const infNFe = child(root.name === 'NFe' ? root : child(root, 'NFe'), 'infNFe')
  if (infNFe === undefined) return unknown(root, 'O arquivo não traz a NF-e (grupo infNFe).')
  const protocol = child(root, 'protNFe')
  const id = infNFe.attributes.Id?.trim().replace(/^NFe/, '')
  const chave = chaveOf(id ?? value(protocol, 'infProt/chNFe'), problems)
  if (chave === undefined) return unknown(root, 'A NF-e não traz uma chave de acesso de 44 posições.')

  const mod = modelOf(value(infNFe, 'ide/mod'), chaveParts(chave).mod)
  if (mod === '65') {
    const message = 'É uma NFC-e (modelo 65), que a SEFAZ não distribui.'
    problems.push({ code: 'model-65', message })
  } else if (mod !== '55') problems.push({ code: 'model', message: `O modelo ${mod} não é de NF-e.` })

  const authorization = authorizationOf(protocol, chave, problems)
  if (authorization.situation === 'authorized' && carriesCancellation(root, chave))
    authorization.situation = 'cancelled'

  return {
    kind: 'document',
    type: 'nfe',
    root: root.name,
    complete: true,
    chave,
    mod,
    ...identificationOf(infNFe, chave, 'nNF', problems),
    amount: amountOf(value(infNFe, 'total/ICMSTot/vNF'), problems),
    parties: partiesOf(infNFe),
    tpNF: value(infNFe, 'ide/tpNF'),
    ...authorization,
  }
}

/** The resumo given to a destinatário before the manifestação (NT 2014.002, `resNFe`). */
export function readNfeSummary(root: XmlElement, problems: Problem[]): DocumentFacts | UnknownFacts {
  const chave = chaveOf(value(root, 'chNFe'), problems)
  if (chave === undefined) return unknown(root, 'O resumo não traz uma chave de acesso de 44 posições.')
  const parts = chaveParts(chave)
  const parties: Party[] = []
  addParty(parties, 0, root)
  const cSitNFe = value(root, 'cSitNFe')
  return {
    kind: 'document',
    type: 'nfe',
    root: root.name,
    complete: false,
    chave,
    mod: parts.mod,
    serie: parts.serie,
    numero: parts.numero,
    issuedAt: dateOf(value(root, 'dhEmi') ?? value(root, 'dEmi'), 'emissão', problems),
    authorizedAt: optionalDateOf(value(root, 'dhRecbto'), 'autorização', problems),
    protocol: value(root, 'nProt'),
    issuerTaxId: taxIdOf(root) ?? taxIdOfChave(chave, problems),
    issuerName: value(root, 'xNome') ?? '',
    issuerIe: value(root, 'IE'),
    issuerUf: ufByCode(parts.cUF)?.uf,
    amount: amountOf(value(root, 'vNF'), problems),
    parties,
    tpAmb: '',
    tpNF: value(root, 'tpNF'),
    situation: cSitNFe === '3' ? 'cancelled' : cSitNFe === '2' ? 'denied' : 'authorized',
    digest: value(root, 'digVal'),
  }
}

function partiesOf(infNFe: XmlElement): Party[] {
  const parties: Party[] = []
  addParty(parties, 0, child(infNFe, 'emit'))
  addParty(parties, 1, child(infNFe, 'dest'))
  addParty(parties, 2, child(infNFe, 'transp/transporta'))
  for (const autXML of children(infNFe, 'autXML')) addParty(parties, 3, autXML)
  return parties
}

// Outside the layout, but seen: the registration of the cancelamento kept inside the nfeProc.
function carriesCancellation(root: XmlElement, chave: string): boolean {
  for (const retEvento of children(root, 'retEvento')) {
    const infEvento = child(retEvento, 'infEvento')
    const tpEvento = value(infEvento, 'tpEvento')
    const registered = registeredStatuses.has(value(infEvento, 'cStat') ?? '')
    if ((tpEvento === '110111' || tpEvento === '110112') && registered && value(infEvento, 'chNFe') === chave)
      return true
  }
  const infCanc = child(root, 'retCancNFe/infCanc')
  return value(infCanc, 'cStat') === '101' && value(infCanc, 'chNFe') === chave
}
