import { formatBrasiliaDayAndTime, formatMoney } from '@vigia/contract/text'
import { z } from 'zod'
import { addressInWords } from '../http/region.ts'
import type { MailKind } from '../mail/mail.ts'

const Changed = z.object({
  at: z.iso.datetime(),
  address: z.string().optional(),
  by: z.string(),
  from: z.number().nullable(),
  before: z.number().nullable(),
})

/** Says who changed the value from which two people are needed: whoever administers may do so alone, and then answer alone. */
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
    ...(address && { footnote: `Isso veio do endereço de rede ${addressInWords(address)}.` }),
  }
}

/** The letters about answers, by kind. */
export const manifestationMails: Record<string, MailKind> = { 'duas-pessoas-mudou': changed }
