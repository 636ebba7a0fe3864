import { child, children, value, type XmlElement } from './document.ts'
import { eventKind, registeredStatuses } from './events.ts'
import type { EventFacts, Problem, UnknownFacts } from './read.ts'
import { chaveOf, dateOf, numberOf, optionalDateOf, taxIdOf, unknown } from './reading.ts'

export function readEvent(type: 'nfe' | 'cte', root: XmlElement, problems: Problem[]): EventFacts | UnknownFacts {
  const processed = child(root, type === 'nfe' ? 'evento/infEvento' : 'eventoCTe/infEvento')
  const infEvento = processed ?? child(root, 'infEvento')
  if (infEvento === undefined) return unknown(root, 'O arquivo não traz o evento (grupo infEvento).')
  const chave = chaveOf(value(infEvento, type === 'nfe' ? 'chNFe' : 'chCTe'), problems)
  if (chave === undefined) return unknown(root, 'O evento não traz uma chave de acesso de 44 posições.')
  const tpEvento = numberOf(value(infEvento, 'tpEvento'))
  if (tpEvento === undefined) return unknown(root, 'O evento não traz o seu tipo (tpEvento).')

  // A CT-e 2.00 authoriser put the registration beside the event without a retEventoCTe around it.
  const answer =
    child(root, type === 'nfe' ? 'retEvento/infEvento' : 'retEventoCTe/infEvento') ??
    (processed && child(root, 'infEvento'))
  const cStat = value(answer, 'cStat')
  if (cStat === undefined || !registeredStatuses.has(cStat)) {
    const message = `O evento não traz a sua autorização${cStat === undefined ? '' : ` (cStat ${cStat})`}.`
    problems.push({ code: 'event-not-registered', message })
  }
  const detEvento = child(infEvento, 'detEvento')
  const groups = detEvento === undefined ? [] : [detEvento, ...detEvento.children]
  return {
    kind: 'event',
    type,
    root: root.name,
    summary: false,
    chave,
    tpEvento,
    nSeqEvento: numberOf(value(infEvento, 'nSeqEvento')) ?? 1,
    cOrgao: value(infEvento, 'cOrgao') ?? '',
    authorTaxId: taxIdOf(infEvento),
    dhEvento: dateOf(value(infEvento, 'dhEvento'), 'ocorrência do evento', problems),
    registeredAt: optionalDateOf(value(answer, 'dhRegEvento'), 'registro do evento', problems),
    protocol: value(answer, 'nProt'),
    cStat,
    description: firstOf(groups, ['descEvento']) ?? value(answer, 'xEvento') ?? nameOf(type, tpEvento),
    named: tpEvento === 110150 ? children(detEvento, 'autXML').flatMap((reader) => taxIdOf(reader) ?? []) : undefined,
    justification: corrections(groups) ?? firstOf(groups, ['xJust', 'xCorrecao', 'xObs', 'xJustMotivo']),
  }
}

/** The resumo of an event, only for NF-e (NT 2014.002, `resEvento`). */
export function readEventSummary(root: XmlElement, problems: Problem[]): EventFacts | UnknownFacts {
  const chave = chaveOf(value(root, 'chNFe'), problems)
  if (chave === undefined) return unknown(root, 'O resumo de evento não traz uma chave de acesso de 44 posições.')
  const tpEvento = numberOf(value(root, 'tpEvento'))
  if (tpEvento === undefined) return unknown(root, 'O resumo de evento não traz o tipo do evento (tpEvento).')
  return {
    kind: 'event',
    type: 'nfe',
    root: root.name,
    summary: true,
    chave,
    tpEvento,
    nSeqEvento: numberOf(value(root, 'nSeqEvento')) ?? 1,
    cOrgao: value(root, 'cOrgao') ?? '',
    authorTaxId: taxIdOf(root),
    dhEvento: dateOf(value(root, 'dhEvento'), 'ocorrência do evento', problems),
    registeredAt: optionalDateOf(value(root, 'dhRecbto'), 'registro do evento', problems),
    protocol: value(root, 'nProt'),
    description: value(root, 'xEvento') ?? nameOf('nfe', tpEvento),
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

function nameOf(type: 'nfe' | 'cte', tpEvento: number): string {
  return eventKind(type, tpEvento)?.description ?? ''
}
