import { readEvent, readEventSummary } from '../read-event.ts'
import { readNfe, readNfeSummary } from '../read-nfe.ts'
import { lastSequence, standsAlready } from './answers.ts'
import { agreementOf44, chaveOf44 } from './chave.ts'
import { eventTable, registrationBy } from './events.ts'
import type { Answer, AnswerSubject, DueAnswer, Family } from './family.ts'
import { events } from './nfe-events.ts'
import { status, statusesOf } from './statuses.ts'
import { days, type Term, termEnd } from './terms.ts'

/** Roles of NF-e by code (NT 2014.002). */
export const nfeRole = { emitente: 0, destinatario: 1, transportador: 2, terceiro: 3 } as const

/** The first answer of the destinatário, which releases the whole note. */
export const ciencia = 210210
export const confirmacao = 210200
export const desconhecimento = 210220
export const naoRealizada = 210240
/** Conclusive answers of the destinatário; the last one counts (NT 2020.001). */
export const conclusive: readonly number[] = [confirmacao, desconhecimento, naoRealizada]

/** How long the Ciência may be given. */
export const cienciaTerms: readonly Term[] = [{ hours: days(10), since: '2012-01-01', source: 'NT 2020.001' }]
/** Terms change by law: a change is a new row, and old documents keep theirs. The authority has the last word (cStat 596). */
export const conclusiveTerms: readonly Term[] = [
  { hours: days(180), since: '2012-01-01', source: 'Ajuste SINIEF 44/20' },
  { hours: days(90), since: '2026-06-01', source: 'Ajuste SINIEF 14/26; NT 2020.001 v1.60' },
]

const names: Readonly<Record<number, readonly [name: string, done: string]>> = {
  [ciencia]: ['A Ciência desta nota', 'registrada'],
  [confirmacao]: ['A Confirmação desta nota', 'registrada'],
  [desconhecimento]: ['O Desconhecimento desta nota', 'registrado'],
  [naoRealizada]: ['A Operação não Realizada desta nota', 'registrada'],
}

function may(tpEvento: number, subject: AnswerSubject): ReturnType<Answer['may']> {
  if (!(subject.roles & (1 << nfeRole.destinatario)))
    return { refusal: 'Só o destinatário da nota pode manifestar; a sua empresa não é a destinatária.' }
  if (subject.status === status.cancelled)
    return { refusal: 'A nota foi cancelada pelo emitente: não há mais o que manifestar.' }
  if (subject.status === status.denied) return { refusal: 'O uso da nota foi denegado: não há o que manifestar.' }
  const certain = subject.own.filter((event) => !event.doubt)
  const answer = certain.findLast((event) => conclusive.includes(event.tpEvento))
  if (tpEvento === ciencia && (answer || subject.own.some((event) => event.doubt === 'elsewhere')))
    return { refusal: 'A nota já tem uma manifestação final, que vale mais do que a Ciência.' }
  const standing = tpEvento === ciencia ? certain.find((event) => event.tpEvento === tpEvento) : answer
  // A second equal answer changes nothing, and would use up the only rectification allowed.
  if (standing?.tpEvento === tpEvento) return { refusal: standsAlready(names[tpEvento]!, standing) }
  const before = lastSequence(tpEvento, subject)
  if (before >= 2) return { refusal: 'Esta manifestação já foi registrada duas vezes, que é o máximo.' }
  return { sequence: before + 1 }
}

// The Ciência only releases the XML: with the whole note the conclusive answer is due, with or
// without Ciência. A pending event may be refused, so its answer stays due.
function open(subject: AnswerSubject, now: Date): DueAnswer | null {
  const { roles, complete, authorizedAt, own } = subject
  if (authorizedAt === null || !(roles & (1 << nfeRole.destinatario))) return null
  const ended: number[] = [
    status.cancelled,
    status.denied,
    status.unknownOperation,
    status.notPerformed,
    status.confirmed,
  ]
  const finals = own.filter(({ tpEvento }) => conclusive.includes(tpEvento))
  if (ended.includes(subject.status) || finals.some(({ pending }) => !pending)) return null
  const acknowledged =
    complete ||
    subject.status === status.acknowledged ||
    own.some(({ tpEvento, pending }) => tpEvento === ciencia && !pending)
  const due = (answer: DueAnswer['answer'], tpEvento: number, terms: readonly Term[]) => {
    const until = termEnd(terms, authorizedAt)
    return until && now <= until ? { answer, tpEvento, until } : null
  }
  return (
    (acknowledged || finals.length > 0 ? null : due('ciencia', ciencia, cienciaTerms)) ??
    due('manifestacao', confirmacao, conclusiveTerms)
  )
}

function answer(
  choice: number,
  tpEvento: number,
  name: string,
  of: string,
  text: Answer['text'],
  rivals: readonly number[],
  terms: readonly Term[],
): Answer {
  return {
    choice,
    tpEvento,
    name,
    of,
    text,
    rivals,
    due: tpEvento === ciencia ? 'ciencia' : 'manifestacao',
    may: (subject) => may(tpEvento, subject),
    until: ({ authorizedAt }) => termEnd(terms, authorizedAt),
  }
}

const eventLayout = { event: 'evento', response: 'retEvento', chave: 'chNFe' }

/** NF-e, model 55, and the NFC-e of model 65, which the authority does not distribute (MOC NF-e 7.0; NT 2014.002). */
export const nfe: Family & { id: 'nfe' } = {
  id: 'nfe',
  code: 0,
  name: 'NF-e',
  feminine: true,
  list: '/notas-fiscais',
  models: ['55'],
  namespace: 'http://www.portalfiscal.inf.br/nfe',
  roots: {
    nfeProc: 'document',
    NFe: 'document',
    resNFe: 'summary',
    procEventoNFe: 'event',
    evento: 'event',
    resEvento: 'event',
  },
  // The model of another document is read as an NF-e, with a problem.
  key: chaveOf44('nfe', (model) => !['57', '64', '67'].includes(model)),
  read(root, problems) {
    if (root.name === 'resNFe') return readNfeSummary(root, problems)
    if (root.name === 'resEvento') return readEventSummary(nfe, root, problems)
    return nfe.roots[root.name] === 'event' ? readEvent(nfe, eventLayout, root, problems) : readNfe(root, problems)
  },
  roles: [
    { code: nfeRole.emitente, name: 'Emitente', side: 'issued' },
    { code: nfeRole.destinatario, name: 'Destinatário', side: 'received' },
    { code: nfeRole.transportador, name: 'Transportador', side: 'other' },
    { code: nfeRole.terceiro, name: 'Terceiro', side: 'other' },
  ],
  statuses: statusesOf(
    ['summary', 'authorized', 'cancelled', 'unknownOperation', 'notPerformed', 'confirmed', 'acknowledged'],
    ['denied', 'noProtocol'],
  ),
  events: eventTable(events, {
    cancels: status.cancelled,
    confirmed: status.confirmed,
    'unknown-operation': status.unknownOperation,
    'not-performed': status.notPerformed,
    acknowledged: status.acknowledged,
  }),
  registration: registrationBy('573'),
  replacedStatus: null,
  answers: [
    answer(1, ciencia, 'Ciência', 'da Ciência', 'none', [ciencia], cienciaTerms),
    answer(2, confirmacao, 'Confirmação', 'da Confirmação', 'none', conclusive, conclusiveTerms),
    answer(3, desconhecimento, 'Desconhecimento', 'do Desconhecimento', 'taken', conclusive, conclusiveTerms),
    answer(4, naoRealizada, 'Não Realizada', 'de Operação não Realizada', 'demanded', conclusive, conclusiveTerms),
  ],
  open,
  summary: {
    role: nfeRole.destinatario,
    // Desconhecimento releases nothing (NT 2014.002).
    releasedBy: [ciencia, confirmacao, naoRealizada],
    waitHours: 24,
  },
  signed: {
    ...eventLayout,
    group: 'infNFe',
    prefix: 'NFe',
    protocol: 'protNFe/infProt',
    agrees: agreementOf44({ number: 'ide/nNF', code: 'ide/cNF', since: 2, avulsa: true }),
    mask: null,
  },
  form: ({ model }) => (model === '65' ? null : { form: 'danfe', name: 'DANFE' }),
  files: { folder: 'NF-e', name: (chave, complete) => `${chave}-${complete ? 'proc' : 'res'}NFe.xml` },
}
