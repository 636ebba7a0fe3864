import { child, value, type XmlElement } from '@vigia/dfe/document'
import type { AnswerSubject, DocumentKey, DueAnswer, Family } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { status, statusesOf } from '@vigia/dfe/families/statuses'

type Facts = ReturnType<Family['read']>

/** The made-up family: unlike NF-e and CT-e in its chaves, its numbers, its roots, its namespace and its answers. */
const id = 'recibo' as FamilyId
export const namespace = 'urn:exemplo:recibo'
export const aceite = 900_201
export const cancelamento = 900_101
const role = { prestador: 0, tomador: 1, terceiro: 3 } as const
const substituted = 11

// RX, municipality, AAMM, CNPJ, number of 13 digits, code, and a letter that checks: 50 positions.
const shape = /RX(\d{7})(\d{4})([0-9A-Z]{12}\d{2})(\d{13})([0-9A-Z]{9})([A-W])/

/** The letter after the first 49 positions. */
export function checkLetter(first49: string): string {
  const sum = [...first49].reduce((sum, character, i) => sum + (i + 1) * character.charCodeAt(0), 0)
  return String.fromCharCode(65 + (sum % 23))
}

function parse(text: string): DocumentKey | null {
  const match = new RegExp(`^${shape.source}$`).exec(text)
  if (!match) return null
  const [, place = '', aamm = '', issuer = '', number, , letter] = match
  return {
    family: id,
    text,
    valid: checkLetter(text.slice(0, 49)) === letter,
    model: null,
    series: null,
    number: Number(number),
    issuer,
    month: `20${aamm.slice(0, 2)}-${aamm.slice(2)}`,
    place,
  }
}

function readDocument(root: XmlElement): Facts {
  const inf = child(root, 'infRecibo')
  const chave = inf?.attributes.Id ?? ''
  const key = parse(chave)
  if (!inf || !key) return { kind: 'unknown', root: root.name, reason: 'O recibo não traz a sua chave.' }
  const party = (name: string, code: number) => {
    const taxId = value(inf, `${name}/CNPJ`)
    return taxId ? [{ role: code, taxId, name: value(inf, `${name}/xNome`) ?? '' }] : []
  }
  return {
    kind: 'document',
    type: id,
    root: root.name,
    complete: true,
    chave,
    mod: '',
    serie: null,
    numero: key.number,
    issuedAt: value(inf, 'dhEmi') ?? '',
    authorizedAt: value(root, 'dhAut') ?? '',
    issuerTaxId: key.issuer,
    issuerName: value(inf, 'prest/xNome') ?? '',
    amount: value(inf, 'vServ') ?? '0',
    parties: [...party('prest', role.prestador), ...party('toma', role.tomador)],
    tpAmb: '1',
    ...(value(inf, 'subst') && { replaces: value(inf, 'subst')! }),
    situation: 'authorized',
  }
}

function readEvent(root: XmlElement): Facts {
  const inf = child(root, 'infEvento')
  const chave = value(inf, 'ch') ?? ''
  const tpEvento = Number(value(inf, 'tp'))
  if (!parse(chave) || !tpEvento) return { kind: 'unknown', root: root.name, reason: 'O evento não traz a sua chave.' }
  return {
    kind: 'event',
    type: id,
    root: root.name,
    summary: false,
    registration: value(root, 'nProt') ? 'registered' : 'none',
    chave,
    tpEvento,
    nSeqEvento: 1,
    cOrgao: '',
    authorTaxId: value(inf, 'CNPJ') ?? '',
    dhEvento: value(inf, 'dh') ?? '',
    registeredAt: value(inf, 'dh') ?? '',
    protocol: value(root, 'nProt') ?? '',
    description: recibo.events.get(tpEvento)?.description ?? '',
  }
}

const days30 = 30 * 86_400_000
const untilOf = ({ authorizedAt }: Pick<AnswerSubject, 'authorizedAt'>) =>
  authorizedAt && new Date(authorizedAt.getTime() + days30)

function open(subject: AnswerSubject, now: Date): DueAnswer | null {
  const until = untilOf(subject)
  const mayAnswer = subject.status === status.authorized && (subject.roles & (1 << role.tomador)) !== 0
  const answered = subject.own.some(({ pending }) => !pending)
  return mayAnswer && !answered && until && now <= until ? { answer: 'manifestacao', tpEvento: aceite, until } : null
}

const kind = (tpEvento: number, description: string, given: number | null) => ({
  tpEvento,
  description,
  effect: given === status.cancelled ? ('cancels' as const) : ('confirmed' as const),
  weight: 80,
  status: given,
})

export const recibo: Family = {
  id,
  code: 7,
  name: 'Recibo',
  feminine: false,
  list: '/recibos',
  models: [],
  namespace,
  roots: { recibo: 'document', evento: 'event' },
  key: {
    find: (text) => shape.exec(text.replaceAll(/\s/g, '').toUpperCase())?.[0] ?? null,
    parse,
    format: (chave) => chave.replaceAll(/.{10}(?!$)/g, '$& '),
  },
  read: (root) => (recibo.roots[root.name] === 'event' ? readEvent(root) : readDocument(root)),
  roles: [
    { code: role.prestador, name: 'Prestador', side: 'issued' },
    { code: role.tomador, name: 'Tomador', side: 'received' },
    { code: role.terceiro, name: 'Terceiro', side: 'other' },
  ],
  statuses: [
    ...statusesOf(['authorized', 'cancelled', 'confirmed'], []),
    { code: substituted, name: 'Substituído', stands: false, final: true, filter: true, eventCode: 0 },
  ],
  events: new Map([
    [cancelamento, kind(cancelamento, 'Cancelamento de Recibo', status.cancelled)],
    [aceite, kind(aceite, 'Aceite do Recibo', status.confirmed)],
  ]),
  registration: () => 'registered',
  replacedStatus: substituted,
  answers: [
    {
      tpEvento: aceite,
      choice: 1,
      name: 'Aceite',
      of: 'do Aceite',
      text: 'none',
      rivals: [aceite],
      due: 'manifestacao',
      may: ({ status: now }) =>
        now === status.authorized ? { sequence: 1 } : { refusal: 'Este recibo não aceita mais resposta.' },
      until: untilOf,
    },
  ],
  open,
  summary: null,
  signed: null,
  form: () => ({ form: 'plain', name: 'ESPELHO' }),
  files: { folder: 'Recibos', name: (chave) => `${chave}-recibo.xml` },
}
