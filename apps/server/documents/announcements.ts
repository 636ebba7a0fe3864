import { formatCount, formatInteger, formatList } from '@vigia/contract/text'
import { families } from '@vigia/dfe/families/all'
import { familyOf } from '@vigia/dfe/families/lookup'
import { listScreen, named, type Writer } from '../companies/topics.ts'
import { serviceOf } from '../platform/service.ts'
import { eventName } from './list/rows.ts'
import { cancellations } from './projection.ts'
import type { Altered } from './workflow/remarks.ts'

export interface Ready {
  documents: number
  by: string
  printed: boolean
  /** It is everything that the workspace keeps; absent: of a version that did not know that. */
  leaving?: boolean
  /** It tells of these companies; absent: of all. */
  companyIds?: number[]
}

const where = 'O arquivo fica um dia no sino; depois, basta pedir de novo.'

const ready: Writer = {
  topic: 'exportacao',
  write(items) {
    const { documents, by, printed, leaving } = items.at(-1)!.payload as Ready
    if (items.length > 1)
      return {
        kind: 'sucesso',
        header: 'Arquivos prontos',
        body: `${formatCount(items.length, 'exportação ou impressão está pronta', 'exportações e impressões estão prontas')}. Os arquivos ficam um dia no sino; depois, basta pedir de novo.`,
      }
    if (leaving)
      return {
        kind: 'sucesso',
        header: 'O arquivo com tudo está pronto',
        body: `O arquivo com tudo o que a conta guarda, pedido por ${by}, está pronto. Ele fica três dias no sino.`,
      }
    const what = printed ? 'A impressão' : 'A exportação'
    return {
      kind: 'sucesso',
      header: printed ? 'Impressão pronta' : 'Exportação pronta',
      body: `${what} de ${formatCount(documents, 'documento', 'documentos')}, pedida por ${by}, está pronta. ${where}`,
    }
  },
}

const altered: Writer = {
  topic: 'documento',
  write(items) {
    const [first] = items
    const { chave, type, number, issuer, tpEvento, confirmed, done = ['usado'] } = first!.payload as Altered
    const whatToDo = 'Confira o que já foi pago, escriturado ou entregue.'
    const { list, name, feminine } = familyOf(type)
    if (items.length === 1 && confirmed && cancellations.includes(tpEvento))
      return {
        kind: 'alert',
        header: 'Nota confirmada foi cancelada',
        body: `A NF-e ${formatInteger(number)} de ${issuer}, que ${first!.company} já tinha confirmado, foi cancelada por quem a emitiu. A confirmação continua guardada. Se a operação aconteceu, fale com quem emitiu.`,
        link: listScreen(list, items, { busca: chave }),
      }
    if (items.length === 1)
      return {
        kind: 'alert',
        header: 'Documento mudou depois',
        body: `${feminine ? 'A' : 'O'} ${name} ${formatInteger(number)} de ${issuer}, que ${first!.company} já tinha ${formatList(confirmed ? [...done, 'confirmado'] : done)}, recebeu: ${eventName(serviceOf(type), tpEvento)}. ${whatToDo}`,
        link: listScreen(list, items, { busca: chave }),
      }
    const types = new Set(items.map(({ payload }) => (payload as Altered).type))
    const [link, otherLink] = families
      .filter(({ code }) => types.has(code))
      .map(({ list }) => listScreen(list, items, { marca: 'mudaram-depois' }))
    return {
      kind: 'alert',
      header: 'Documentos mudaram depois',
      body: `${formatInteger(items.length)} documentos de ${named(items.map(({ company }) => company))} foram cancelados, substituídos ou corrigidos depois de conferidos, lançados, entregues, exportados ou confirmados. ${whatToDo}`,
      ...(link && { link }),
      ...(otherLink && { otherLink }),
    }
  },
}

export const documentAnnouncements: Readonly<Record<string, Writer>> = {
  'exportacao-pronta': ready,
  'documento-mudou': altered,
}
