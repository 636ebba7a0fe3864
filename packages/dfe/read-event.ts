import { child, children, value, type XmlElement } from './document.ts'
import type { EventFacts, Problem, UnknownFacts } from './facts.ts'
import type { EventLayout, Family } from './families/family.ts'
import { chaveOf, dateOf, numberOf, optionalDateOf, taxIdOf, unknown } from './reading.ts'

/** An event with its registration (MOC 7.0 evento genérico; MOC CT-e 4.00 §3.7). */
export function readEvent(
  family: Family,
  layout: EventLayout,
  root: XmlElement,
  problems: Problem[],
): EventFacts | UnknownFacts {
  const processed = child(root, `${layout.event}/infEvento`)
  const infEvento = processed ?? child(root, 'infEvento')
  if (infEvento === undefined) return unknown(root, 'O arquivo não traz o evento (grupo infEvento).')
  const chave = chaveOf(value(infEvento, layout.chave), problems)
  if (chave === undefined) return unknown(root, 'O evento não traz uma chave de acesso de 44 posições.')
  const tpEvento = numberOf(value(infEvento, 'tpEvento'))
  if (tpEvento === undefined) return unknown(root, 'O evento não traz o seu tipo (tpEvento).')

  // A CT-e 2.00 authoriser put the registration beside the event without a retEventoCTe around it.
  const response = child(root, `${layout.response}/infEvento`) ?? (processed && child(root, 'infEvento'))
  const cStat = value(response, 'cStat')
  const registration = family.registration(cStat)
  if (registration === 'none') {
    const message = `O evento não traz a sua autorização${cStat === undefined ? '' : ` (cStat ${cStat})`}.`
    problems.push({ code: 'event-not-registered', message })
  }
  const detEvento = child(infEvento, 'detEvento')
  const groups = detEvento === undefined ? [] : [detEvento, ...detEvento.children]
  return {
    kind: 'event',
    type: family.id,
    root: root.name,
    summary: false,
    registration,
    chave,
    tpEvento,
    nSeqEvento: numberOf(value(infEvento, 'nSeqEvento')) ?? 1,
    cOrgao: value(infEvento, 'cOrgao') ?? '',
    authorTaxId: taxIdOf(infEvento),
    dhEvento: dateOf(value(infEvento, 'dhEvento'), 'ocorrência do evento', problems),
    // In the statement of a duplicity dhRegEvento is the moment of the statement.
    registeredAt: optionalDateOf(
      registration === 'duplicate' ? bracket(response, 'dhRegEvento') : value(response, 'dhRegEvento'),
      'registro do evento',
      problems,
    ),
    protocol: value(response, 'nProt') ?? (registration === 'duplicate' ? bracket(response, 'nProt') : undefined),
    cStat,
    description: firstOf(groups, ['descEvento']) ?? value(response, 'xEvento') ?? nameOf(family, tpEvento),
    undoes: undoneBy(family, tpEvento, groups),
    named: tpEvento === 110150 ? children(detEvento, 'autXML').flatMap((reader) => taxIdOf(reader) ?? []) : undefined,
    justification: corrections(groups) ?? firstOf(groups, ['xJust', 'xCorrecao', 'xObs', 'xJustMotivo']),
  }
}

/** The resumo of an event, only for NF-e (NT 2014.002, `resEvento`). */
export function readEventSummary(family: Family, root: XmlElement, problems: Problem[]): EventFacts | UnknownFacts {
  const chave = chaveOf(value(root, 'chNFe'), problems)
  if (chave === undefined) return unknown(root, 'O resumo de evento não traz uma chave de acesso de 44 posições.')
  const tpEvento = numberOf(value(root, 'tpEvento'))
  if (tpEvento === undefined) return unknown(root, 'O resumo de evento não traz o tipo do evento (tpEvento).')
  return {
    kind: 'event',
    type: family.id,
    root: root.name,
    summary: true,
    registration: 'registered',
    chave,
    tpEvento,
    nSeqEvento: numberOf(value(root, 'nSeqEvento')) ?? 1,
    cOrgao: value(root, 'cOrgao') ?? '',
    authorTaxId: taxIdOf(root),
    dhEvento: dateOf(value(root, 'dhEvento'), 'ocorrência do evento', problems),
    registeredAt: optionalDateOf(value(root, 'dhRecbto'), 'registro do evento', problems),
    protocol: value(root, 'nProt'),
    description: value(root, 'xEvento') ?? nameOf(family, tpEvento),
    undoes: undoneBy(family, tpEvento, []),
  }
}

// NF-e events keep these fields in detEvento, CT-e events in the one specific group inside it.
function firstOf(groups: XmlElement[], names: string[]): string | undefined {
  for (const name of names) {
    for (const group of groups) {
      const text = value(group, name)
      if (text !== undefined) return text
    }
  }
  return undefined
}

// The names that the schemas give to the protocol of the undone event; 111502 and 111503 call it just nProt, which elsewhere
// is the protocol of the document.
const undoneProtocols = ['nProtEvento', 'nProtEvPrestDes', 'nProtCE', 'nProtIE', 'nProtVincPgto']

function undoneBy(family: Family, tpEvento: number, groups: XmlElement[]): EventFacts['undoes'] {
  const kind = family.events.get(tpEvento)
  if (kind?.effect !== 'undoes') return undefined
  const prolongation = tpEvento === 111502 || tpEvento === 111503
  return {
    tpEvento: kind.undoes ?? numberOf(firstOf(groups, ['tpEventoAut'])),
    protocol: firstOf(groups, prolongation ? ['nProt'] : undoneProtocols),
  }
}

// xMotivo of a duplicity names the registered event: "… [nProt:891260000054321][dhRegEvento:2026-08-11T08:30:04-03:00]".
function bracket(response: XmlElement | undefined, name: 'nProt' | 'dhRegEvento'): string | undefined {
  return new RegExp(`\\[${name}:\\s*([0-9T:+-]+)\\s*\\]`).exec(value(response, 'xMotivo') ?? '')?.[1]
}

function corrections(groups: XmlElement[]): string | undefined {
  const list = groups.flatMap((group) => children(group, 'infCorrecao'))
  if (list.length === 0) return undefined
  return list
    .map((item) => {
      const index = value(item, 'nroItemAlterado')
      const field = `${value(item, 'grupoAlterado') ?? ''}/${value(item, 'campoAlterado') ?? ''}`
      return `${field}${index === undefined ? '' : `[${index}]`}: ${value(item, 'valorAlterado') ?? ''}`
    })
    .join('; ')
}

function nameOf(family: Family, tpEvento: number): string {
  return family.events.get(tpEvento)?.description ?? ''
}
