import { endSentence, formatCount } from '@vigia/contract/text'
import { isOfCte } from '@vigia/dfe/chave'
import { listScreen, named, type Writer } from '../notifications/notifications.ts'

/** What the authority said of events. */
export interface EventResults {
  registered: number
  refused: number
  /** Of those that were refused, the first ones; missing in those of earlier versions. */
  chaves?: string[]
}

/** So many are named: of one the announcement leads to the document, of more to their list. */
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
    const [chave, ...others] = new Set(all.flatMap(({ chaves = [] }) => chaves))
    const ofRefused = items.filter(({ payload }) => (payload as EventResults).refused > 0)
    const link =
      chave &&
      listScreen(isOfCte(chave) ? '/cte' : '/notas-fiscais', ofRefused, others.length === 0 ? { busca: chave } : {})
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

/** A note whose automatic Ciência an alert holds back, and whose time is running out. */
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
        body: `A NF-e ${number} de ${issuer} para ${first!.company} tem um alerta aberto, e a Ciência automática dela espera por uma pessoa. ${whatToDo}`,
        link: listScreen('/notas-fiscais', items, { busca: chave }),
      }
    return {
      kind: 'alert',
      header: 'Ciências retidas, faltam três dias',
      body: `${formatCount(items.length, 'NF-e', 'NF-e')} para ${named(items.map(({ company }) => company))} têm alertas abertos, e a Ciência automática delas espera por uma pessoa. ${whatToDo}`,
      link: listScreen('/notas-fiscais', items, {}),
    }
  },
}

/** The announcements of this slice. */
export const manifestationAnnouncements: Readonly<Record<string, Writer>> = {
  'manifestacao-resultado': results,
  'ciencia-retida': withheld,
}
