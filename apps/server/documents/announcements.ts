import { formatCount, formatInteger } from '@vigia/contract/text'
import { named, type Writer } from '../notifications/notifications.ts'

/** An export can be fetched. */
export interface Ready {
  documents: number
  by: string
}

/** How long the link of an export can be fetched; the words below say it too. */
export const linkLifeMs = 10 * 60_000

const ready: Writer = {
  topic: 'exportacao',
  write(items) {
    const { documents, by } = items.at(-1)!.payload as Ready
    const many = items.length > 1
    return {
      kind: 'sucesso',
      usefulMs: linkLifeMs,
      header: many ? 'Exportações prontas' : 'Exportação pronta',
      body: many
        ? `${formatCount(items.length, 'exportação está pronta', 'exportações estão prontas')}. Cada link vale por dez minutos; depois, basta exportar de novo.`
        : `A exportação de ${formatCount(documents, 'documento', 'documentos')}, pedida por ${by}, está pronta. O link vale por dez minutos; depois, basta exportar de novo.`,
    }
  },
}

/** Who issued a note has cancelled it although the company had confirmed it. */
export interface Cancelled {
  number: number
  issuer: string
}

const cancelled: Writer = {
  topic: 'documento',
  write(items) {
    const [first] = items
    const { number, issuer } = first!.payload as Cancelled
    const whatToDo = 'A confirmação continua guardada. Se a operação aconteceu, fale com quem emitiu.'
    if (items.length === 1)
      return {
        kind: 'alert',
        header: 'Nota confirmada foi cancelada',
        body: `A NF-e ${number} de ${issuer}, que ${first!.company} já tinha confirmado, foi cancelada por quem a emitiu. ${whatToDo}`,
      }
    return {
      kind: 'alert',
      header: 'Notas confirmadas foram canceladas',
      body: `${formatInteger(items.length)} NF-e já confirmadas por ${named(items.map(({ company }) => company))} foram canceladas por quem as emitiu. Elas estão em Notas Fiscais, com status Cancelada.`,
    }
  },
}

/** The announcements of this slice. */
export const documentAnnouncements: Readonly<Record<string, Writer>> = {
  'exportacao-pronta': ready,
  'documento-cancelado': cancelled,
}
