import { readCte } from '../read-cte.ts'
import { readEvent } from '../read-event.ts'
import { lastSequence, standsAlready } from './answers.ts'
import { agreementOf44, chaveOf44 } from './chave.ts'
import { events } from './cte-events.ts'
import { eventTable, registrationBy } from './events.ts'
import type { Answer, AnswerSubject, DueAnswer, Family, OwnAnswer } from './family.ts'
import { status, statusesOf } from './statuses.ts'
import { days, type Term, termEnd } from './terms.ts'

/** Roles of CT-e by code (MOC CT-e 4.00, tomador). */
export const cteRole = {
  emitente: 0,
  destinatario: 1,
  terceiro: 3,
  remetente: 4,
  expedidor: 5,
  recebedor: 6,
  tomador: 7,
} as const

export const cancelamento = 110111
export const cartaCorrecao = 110110
export const desacordo = 610110
export const retiradaDesacordo = 610111
/** Prestação em Desacordo and its cancellation. */
export const disagreement: readonly number[] = [desacordo, retiradaDesacordo]

export const gtv = '64'
const models = ['57', gtv, '67']

// Terms change by law: a change is a new row, and old documents keep theirs. The authority has the last word (cStat 220, 787).
const cancelTerms: readonly Term[] = [{ hours: 168, since: '2012-01-01', source: 'MOC CT-e 4.00, regra 220' }]
/** How long the service may be disputed. */
export const disagreementTerms: readonly Term[] = [
  { hours: days(45), since: '2022-01-01', source: 'MOC CT-e 4.00, regra 787' },
]

function may(tpEvento: number, subject: AnswerSubject): ReturnType<Answer['may']> {
  const before = lastSequence(tpEvento, subject)
  const isOfIssuer = tpEvento === cancelamento || tpEvento === cartaCorrecao
  if (isOfIssuer && !(subject.roles & (1 << cteRole.emitente)))
    return { refusal: 'Só a transportadora que emitiu o CT-e pode cancelá-lo ou corrigi-lo.' }
  if (!isOfIssuer && !(subject.roles & (1 << cteRole.tomador)))
    return { refusal: 'Só quem paga o frete (tomador) pode dizer que a prestação está em desacordo.' }
  if (subject.model === gtv && tpEvento !== cancelamento) return { refusal: 'Este evento não existe para GTV-e.' }
  if (subject.status === status.cancelled) return { refusal: 'O CT-e já foi cancelado.' }
  if (subject.status === status.denied) return { refusal: 'O uso do CT-e foi denegado.' }
  if (tpEvento === cancelamento && subject.own.some((event) => event.tpEvento === cartaCorrecao))
    return { refusal: 'Um CT-e que tem Carta de Correção não pode mais ser cancelado.' }
  if (tpEvento === cancelamento && before > 0) return { refusal: 'O cancelamento deste CT-e já foi pedido.' }
  const standing = standingDisagreement(subject)
  if (tpEvento === desacordo && standing)
    return { refusal: standsAlready(['O desacordo deste CT-e', 'registrado'], standing) }
  if (tpEvento === retiradaDesacordo && !standing)
    return { refusal: 'Não há desacordo registrado que possa ser cancelado.' }
  if (tpEvento === retiradaDesacordo && standing && !standing.pending && standing.protocol === null)
    return {
      refusal:
        'O desacordo foi registrado por outro sistema e não temos o protocolo dele, que o cancelamento precisa citar: cancele pelo sistema que o registrou.',
    }
  if (before >= 20) return { refusal: 'Este evento já foi registrado vinte vezes, que é o máximo.' }
  return { sequence: before + 1 }
}

function standingDisagreement({ own }: AnswerSubject): OwnAnswer | undefined {
  const [made, withdrawn] = disagreement.map((tpEvento) =>
    own.filter((event) => event.tpEvento === tpEvento && !event.doubt),
  )
  return made!.length > withdrawn!.length ? made!.at(-1) : undefined
}

// An event that we sent may be listed twice: each sequence counts once.
function open({ model, roles, status: now_, authorizedAt, own }: AnswerSubject, now: Date): DueAnswer | null {
  if (now_ === status.cancelled || now_ === status.denied) return null
  if (!(roles & (1 << cteRole.tomador)) || model === gtv) return null
  const [made, withdrawn] = disagreement.map(
    (tpEvento) =>
      new Set(own.flatMap((event) => (event.tpEvento === tpEvento && !event.pending ? event.sequence : []))).size,
  )
  const until = termEnd(disagreementTerms, authorizedAt)
  if (made! > withdrawn! || until === null || now > until) return null
  return { answer: 'desacordo', tpEvento: desacordo, until }
}

function answer(
  choice: number,
  tpEvento: number,
  name: string,
  of: string,
  text: Answer['text'],
  rest: Pick<Answer, 'rivals' | 'due' | 'until'>,
): Answer {
  return { choice, tpEvento, name, of, text, ...rest, may: (subject) => may(tpEvento, subject) }
}

const eventLayout = { event: 'eventoCTe', response: 'retEventoCTe', chave: 'chCTe' }

/** CT-e 57 with its Simplificado, CT-e OS 67 and GTV-e 64, which one service delivers (MOC CT-e 4.00). */
export const cte: Family & { id: 'cte' } = {
  id: 'cte',
  code: 2,
  name: 'CT-e',
  feminine: false,
  list: '/cte',
  models,
  namespace: 'http://www.portalfiscal.inf.br/cte',
  roots: {
    cteProc: 'document',
    CTe: 'document',
    cteOSProc: 'document',
    CTeOS: 'document',
    cteSimpProc: 'document',
    cteProcSimp: 'document',
    CTeSimp: 'document',
    GTVeProc: 'document',
    GTVe: 'document',
    procEventoCTe: 'event',
    eventoCTe: 'event',
  },
  key: chaveOf44('cte', (model) => models.includes(model)),
  read(root, problems) {
    return cte.roots[root.name] === 'event' ? readEvent(cte, eventLayout, root, problems) : readCte(root, problems)
  },
  // Parties that may cancel or disagree come before those that may only read. The tomador, who may
  // send 610110, also has another role when toma3 names him.
  roles: [
    { code: cteRole.emitente, name: 'Emitente', side: 'issued' },
    { code: cteRole.tomador, name: 'Tomador', side: 'paid' },
    { code: cteRole.remetente, name: 'Remetente', side: 'other' },
    { code: cteRole.destinatario, name: 'Destinatário', side: 'other' },
    { code: cteRole.expedidor, name: 'Expedidor', side: 'other' },
    { code: cteRole.recebedor, name: 'Recebedor', side: 'other' },
    { code: cteRole.terceiro, name: 'Terceiro', side: 'other' },
  ],
  statuses: statusesOf(['authorized', 'cancelled', 'corrected'], ['denied', 'noProtocol']),
  events: eventTable(events, { cancels: status.cancelled, corrected: status.corrected }),
  registration: registrationBy('631'),
  replacedStatus: null,
  answers: [
    answer(1, cancelamento, 'Cancelamento', 'do Cancelamento', 'demanded', {
      rivals: [cancelamento],
      due: null,
      // The 168 hours are those of the models 57 and 67; for GTV-e only the authority checks it (rejection 876).
      until: ({ model, authorizedAt, deadlineLifted }) =>
        deadlineLifted || model === gtv ? null : termEnd(cancelTerms, authorizedAt),
    }),
    answer(2, cartaCorrecao, 'Carta Correção', 'da Carta de Correção', 'corrections', {
      rivals: [cartaCorrecao],
      due: null,
      until: () => null,
    }),
    answer(desacordo, desacordo, 'Prestação em Desacordo', 'da Prestação em Desacordo', 'demanded', {
      rivals: disagreement,
      due: 'desacordo',
      until: ({ authorizedAt }) => termEnd(disagreementTerms, authorizedAt),
    }),
    answer(retiradaDesacordo, retiradaDesacordo, 'Retirar o Desacordo', 'do Cancelamento do Desacordo', 'none', {
      rivals: disagreement,
      due: null,
      until: () => null,
    }),
  ],
  open,
  summary: null,
  signed: {
    ...eventLayout,
    group: 'infCte',
    prefix: 'CTe',
    protocol: 'protCTe/infProt',
    agrees: agreementOf44({ number: 'ide/nCT', code: 'ide/cCT', since: 1.04, avulsa: false }),
    // The chaves of other documents, in the copy for the readers in autXML (MOC CT-e 4.00).
    mask: '9'.repeat(44),
  },
  form: () => ({ form: 'dacte', name: 'DACTE' }),
  files: { folder: 'CT-e', name: (chave, complete) => `${chave}-${complete ? 'proc' : 'res'}CTe.xml` },
}
