import { endSentence, formatCount, formatInteger, formatList } from '@vigia/contract/text'
import { families } from '@vigia/dfe/families/all'
import { familyById } from '@vigia/dfe/families/lookup'
import { companyScreen, listScreen, named, type TopicItem, type Writer } from '../companies/topics.ts'
import type { Service } from '../platform/service.ts'
import type { CaptureState } from './situation.ts'

export interface Arrived {
  service: Service
  /** Documents that were not here before. */
  inserted: number
  /** Summaries that became whole notes. */
  completed: number
  /** The capture goes on. */
  more: boolean
}

const arrived: Writer = {
  topic: 'captura',
  write(items) {
    const all = items.map(({ payload }) => payload as Arrived)
    const sumOf = (some: readonly Arrived[], of: 'inserted' | 'completed') =>
      some.reduce((total, one) => total + one[of], 0)
    const counts = families.map((family) => {
      const own = all.filter(({ service }) => service === family.id)
      return { family, inserted: sumOf(own, 'inserted'), completed: sumOf(own, 'completed') }
    })
    const completed = sumOf(all, 'completed')
    const arrived = counts.filter(({ inserted }) => inserted > 0)
    if (arrived.length === 0 && completed === 0) return null
    const news = arrived.map(({ family, inserted }) => `${formatInteger(inserted)} ${family.name}`)
    const whole = completed > 0 ? [formatCount(completed, 'NF-e ficou completa', 'NF-e ficaram completas')] : []
    const whose = named(items.map(({ company }) => company))
    const word = arrived.every(({ family }) => family.feminine) ? 'nova' : 'novo'
    const words = sumOf(all, 'inserted') === 1 ? word : `${word}s`
    const body = endSentence(
      news.length > 0
        ? `${formatList(news)} ${words} de ${whose}${whole.length > 0 ? `; ${whole[0]}` : ''}`
        : `${whole[0]}: ${whose}`,
    )
    const last = new Map(items.map(({ companyId, payload }) => [companyId, (payload as Arrived).more]))
    const goesOn = [...last.values()].some(Boolean)
    const header = goesOn ? 'Captura em andamento' : 'Captura concluída'
    const [link, otherLink] = counts
      .filter(({ inserted, completed }) => inserted + completed > 0)
      .map(({ family }) => listScreen(family.list, items, { ordem: 'chegada' }))
    return { kind: 'sucesso', header, body, ...(link && { link }), ...(otherLink && { otherLink }) }
  },
}

export interface Changed {
  service: Service
  before: CaptureState
  state: CaptureState
  message: string
}

const stateTexts: Readonly<Record<Exclude<CaptureState, 'waiting'>, { header: string; many: string }>> = {
  blocked: { header: 'Captura bloqueada pela SEFAZ', many: 'com bloqueio da SEFAZ' },
  failed: { header: 'Captura com falha', many: 'com falha' },
  stopped: { header: 'Captura parada', many: 'parada' },
}

interface StateChange extends Changed {
  companyId: number | null
  company: string | null
  companyPublicId: string | null
}

const changed: Writer = {
  topic: 'captura',
  write(items) {
    const lines = lastOf(items)
    const troubled = lines.filter((line) => line.state !== 'waiting')
    const recovered = lines.filter((line) => line.state === 'waiting')
    if (troubled.length > 0) return tellTrouble(troubled, recovered)
    if (recovered.length === 0) return null
    const [{ service }] = recovered as [StateChange]
    const services = recovered.every((line) => line.service === service) ? ` de ${familyById(service).name}` : ''
    const whose = named(recovered.map(({ company }) => company))
    return {
      kind: 'sucesso',
      header: 'Captura normalizada',
      body: `A captura${services} de ${whose} voltou ao normal e continua de onde estava. Nenhum documento guardado se perdeu.`,
      link: companyScreen(recovered, '/empresas'),
    }
  },
}

// Each company and service with its last state. A line that is back in the state announced last is left out.
function lastOf(items: readonly TopicItem[]): StateChange[] {
  const lines = new Map<string, StateChange>()
  for (const { payload, ...item } of items) {
    const change = payload as Changed
    const key = `${item.companyId} ${change.service}`
    lines.set(key, { ...change, ...item, before: lines.get(key)?.before ?? change.before })
  }
  return [...lines.values()].filter(({ before, state }) => before !== state)
}

const troubledList = '/empresas?so=problema'

function tellTrouble(troubled: readonly StateChange[], recovered: readonly StateChange[]): ReturnType<Writer['write']> {
  const [first] = troubled as [StateChange]
  const companies = new Set(troubled.map(({ companyId }) => companyId))
  const kind = troubled.some(({ state }) => state === 'stopped') ? 'error' : 'alert'
  const state = first.state as keyof typeof stateTexts
  const isOne = companies.size === 1 && troubled.every((line) => line.state === first.state)
  const services = formatList([...new Set(troubled.map(({ service }) => familyById(service).name))])
  if (isOne)
    return {
      kind,
      header: stateTexts[state].header,
      body: `${first.company} (${services}): ${reassured(first.message)}`,
      link: companyScreen(troubled, troubledList),
    }
  const kinds = Object.entries(stateTexts).flatMap(([name, { many }]) => {
    const count = new Set(troubled.filter((line) => line.state === name).map(({ companyId }) => companyId)).size
    return count > 0 ? [`${formatCount(count, 'empresa', 'empresas')} ${many}`] : []
  })
  const better = new Set(recovered.map(({ companyId }) => companyId)).size
  const again = better > 0 ? ` ${formatCount(better, 'outra voltou', 'outras voltaram')} ao normal.` : ''
  return {
    kind,
    header: 'Captura com problemas',
    body: `${formatList(kinds)}: ${named(troubled.map(({ company }) => company))}. Os documentos já guardados estão seguros; o motivo e o que fazer estão em Empresas.${again}`,
    link: companyScreen(troubled, troubledList),
  }
}

// Not every message of a line says it; in a row of Empresas none needs to.
function reassured(message: string): string {
  return /estão seguros|foi pulado|recebido se perdeu/.test(message)
    ? message
    : `${message} Os documentos já guardados estão seguros.`
}

export const captureAnnouncements: Readonly<Record<string, Writer>> = {
  'captura-concluida': arrived,
  'captura-estado': changed,
}
