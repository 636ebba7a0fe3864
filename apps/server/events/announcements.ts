import {
  endSentence,
  formatBrasiliaDayAndTime,
  formatBrasiliaMoment,
  formatCount,
  formatList,
  formatMoney,
} from '@vigia/contract/text'
import { familyById, familyOfKey } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import { z } from 'zod'
import { listScreen, named, type Writer } from '../companies/topics.ts'
import { eventName } from '../documents/list/rows.ts'
import type { MailKind } from '../platform/mail/mail.ts'
import type { Service } from '../platform/service.ts'

export interface EventResults {
  registered: number
  refused: number
  /** The authority does not tell what stands. */
  unconfirmed: number
  /** The first of those that were refused or are unconfirmed. */
  chaves: string[]
}

/** Maximum of chaves in an announcement: one leads to its document, more lead to their list. */
export const chavesNamed = 2

const results: Writer = {
  topic: 'manifestacao',
  write(items) {
    const all = items.map(({ payload }) => payload as EventResults)
    const registered = all.reduce((sum, one) => sum + one.registered, 0)
    const refused = all.reduce((sum, one) => sum + one.refused, 0)
    const whose = named(items.map(({ company }) => company))
    const done = formatCount(registered, 'evento foi registrado', 'eventos foram registrados')
    const not = formatCount(refused, 'evento foi recusado', 'eventos foram recusados')
    const why = 'Nada mudou nesses documentos; o motivo está no painel de cada um.'
    const [chave, ...others] = new Set(all.flatMap(({ chaves }) => chaves))
    const unconfirmed = all.reduce((sum, one) => sum + one.unconfirmed, 0)
    const ofRefused = items.filter(({ payload }) => {
      const { refused, unconfirmed } = payload as EventResults
      return refused + unconfirmed > 0
    })
    const link = chave && listScreen(familyOfKey(chave).list, ofRefused, others.length === 0 ? { busca: chave } : {})
    if (unconfirmed > 0) {
      const doubt = formatCount(unconfirmed, 'evento não sabemos se vale', 'eventos não sabemos se valem')
      const others = [registered > 0 && done, refused > 0 && not].filter(Boolean).join(' e ')
      return {
        kind: 'alert',
        header: 'Manifestação sem confirmação da SEFAZ',
        body: `De ${doubt}, em nome de ${whose}: o motivo e o que fazer estão no painel de cada documento.${others && ` Além disso, ${others}.`}`,
        ...(link && { link }),
      }
    }
    if (refused === 0)
      return {
        kind: 'sucesso',
        header: 'Manifestação registrada',
        body: endSentence(`${done} na SEFAZ em nome de ${whose}`),
      }
    if (registered === 0)
      return {
        kind: 'error',
        header: 'Manifestação recusada',
        body: `${endSentence(`${not} pela SEFAZ em nome de ${whose}`)} ${why}`,
        ...(link && { link }),
      }
    return {
      kind: 'alert',
      header: 'Manifestação registrada em parte',
      body: `Em nome de ${whose}, ${done} na SEFAZ e ${not}. ${why.replace('nesses documentos', 'nos recusados')}`,
      ...(link && { link }),
    }
  },
}

export interface Withheld {
  chave: string
  number: number
  issuer: string
}

const withheld: Writer = {
  topic: 'manifestacao',
  write(items) {
    const [first] = items
    const { chave, number, issuer } = first!.payload as Withheld
    const whatToDo = 'Nada é enviado por si: dê a Ciência, ou diga no alerta que é conhecido.'
    if (items.length === 1)
      return {
        kind: 'alert',
        header: 'Ciência retida, faltam três dias',
        body: `A NF-e ${number} de ${issuer} para ${first!.company} tem um alerta em aberto, e a Ciência automática dela está suspensa. ${whatToDo}`,
        link: listScreen(nfe.list, items, { busca: chave }),
      }
    return {
      kind: 'alert',
      header: 'Ciências retidas, faltam três dias',
      body: `${formatCount(items.length, 'NF-e', 'NF-e')} para ${named(items.map(({ company }) => company))} têm alertas em aberto, e a Ciência automática delas está suspensa. ${whatToDo}`,
      link: listScreen(nfe.list, items, {}),
    }
  },
}

export interface Asked {
  count: number
  /** Person who requested them. */
  by: string
  /** They were approved, or needed no approval, until something changed. */
  again?: boolean
}

const asked: Writer = {
  topic: 'manifestacao',
  write(items) {
    const all = items.map(({ payload }) => payload as Asked)
    const total = all.reduce((sum, { count }) => sum + count, 0)
    const whose = named(items.map(({ company }) => company))
    const by = formatList([...new Set(all.map(({ by }) => by))].slice(0, 3))
    return {
      kind: 'alert',
      header: 'Aguarda segunda pessoa',
      body: `${formatCount(total, 'resposta', 'respostas')} de ${whose}, a pedido de ${by}: nada é enviado até outra pessoa aprovar.${
        all.some(({ again }) => again) ? ' O valor ou os direitos de alguém mudaram antes do envio.' : ''
      }`,
      link: '/aprovacoes',
    }
  },
}

export interface AskedEnding {
  chave: string
  number: number
  issuer: string
  /** The last instant for it. */
  until: string
}

const askedEnding: Writer = {
  topic: 'manifestacao',
  write(items) {
    const all = items.map(({ payload }) => payload as AskedEnding)
    const first = all.toSorted((a, b) => (a.until < b.until ? -1 : 1))[0]!
    const until = formatBrasiliaMoment(new Date(first.until))
    const { name, feminine } = familyOfKey(first.chave)
    const one = `A resposta ${feminine ? 'à' : 'ao'} ${name} ${first.number} de ${first.issuer} espera por uma segunda pessoa, e o prazo dela termina em ${until}.`
    const many = `${formatCount(all.length, 'resposta espera', 'respostas esperam')} por uma segunda pessoa, e o primeiro prazo termina em ${until}.`
    return {
      kind: 'alert',
      header: 'Aguarda segunda pessoa, o prazo termina',
      body: `${all.length === 1 ? one : many} Nada é enviado até outra pessoa aprovar.`,
      link: '/aprovacoes',
    }
  },
}

const twoPeople: Writer = {
  topic: 'manifestacao',
  write(items) {
    const { from, by } = items.at(-1)!.payload as { from: number | null; by: string }
    return {
      kind: 'alert',
      header: 'Aprovação por segunda pessoa',
      body:
        from === null
          ? `${by} desligou a aprovação: as próximas respostas são enviadas com uma pessoa só.`
          : `${by} mudou o valor: as respostas a partir de ${formatMoney(from)} precisam de duas pessoas.`,
      link: '/aprovacoes',
    }
  },
}

export const manifestationAnnouncements: Readonly<Record<string, Writer>> = {
  'manifestacao-resultado': results,
  'ciencia-retida': withheld,
  'resposta-aguarda': asked,
  'resposta-aguarda-prazo': askedEnding,
  'duas-pessoas': twoPeople,
}

const Changed = z.object({
  at: z.iso.datetime(),
  address: z.string().optional(),
  by: z.string(),
  from: z.number().nullable(),
  before: z.number().nullable(),
})

/** Tells of a changed value for two people: an administrator may change it alone, then answer alone. */
const changed: MailKind = async ({ config: { productName, publicUrl } }, { payload }) => {
  const { at, address, by, from, before } = Changed.parse(payload)
  const was =
    before === null ? 'Antes nenhuma precisava.' : `Antes precisavam as respostas a partir de ${formatMoney(before)}.`
  const now =
    from === null
      ? 'desligou a aprovação por uma segunda pessoa: as próximas respostas à SEFAZ são enviadas com uma pessoa só.'
      : `mudou o valor a partir do qual respostas à SEFAZ precisam de duas pessoas: agora é de ${formatMoney(from)}.`
  return {
    subject: `A aprovação por uma segunda pessoa mudou no ${productName}`,
    paragraphs: [
      `Em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília, ${by} ${now} ${was}`,
      'Se vocês combinaram isso, não é preciso fazer nada.',
      'Se não, mude o valor de volta agora em "Aprovações" e veja ali e na auditoria o que foi enviado desde então.',
    ],
    button: { label: 'Abrir as aprovações', url: `${publicUrl}/aprovacoes` },
    ...(address && { footnote: `Isso veio do endereço de rede ${address}.` }),
  }
}

export const manifestationMails: Record<string, MailKind> = { 'duas-pessoas-mudou': changed }

const shownMax = 5

/** The first few of many numbers, and how many there are besides. */
export function numbersText(numbers: readonly number[]): string {
  const shown = numbers.slice(0, shownMax).join(', ')
  return numbers.length > shownMax ? `${shown} e mais ${numbers.length - shownMax}` : shown
}

/** An event of some documents, for the audit. */
export function eventsText(service: Service, tpEvento: number, numbers: readonly number[]): string {
  const which = `${numbers.length === 1 ? 'número' : 'números'} ${numbersText(numbers)}`
  return `${eventName(service, tpEvento)} de ${numbers.length} ${familyById(service).name} (${which})`
}
