import type { Scope } from '@vigia/contract/route'
import { formatBrasiliaDayAndTime, formatList } from '@vigia/contract/text'
import { z } from 'zod'
import type { MailKind } from '../../platform/mail/mail.ts'

const Made = z.object({
  at: z.iso.datetime(),
  address: z.string().optional(),
  name: z.string(),
  start: z.string(),
  scopes: z.array(z.string()),
  /** In words. */
  until: z.string(),
})

const deeds: Record<Scope, string> = {
  'documentos:ler': 'ler os documentos',
  'documentos:responder': 'responder a eles em nome das empresas',
  'empresas:ler': 'ler as empresas',
  'empresas:gerir': 'cadastrar e mudar empresas e certificados',
  exportar: 'exportar documentos',
}

/** Names the maker of an API key, because an unattended session and its password suffice to make one. */
const made: MailKind = async ({ config: { productName, publicUrl } }, { payload }) => {
  const { at, address, name, start, scopes, until } = Made.parse(payload)
  return {
    subject: `Uma chave de API foi criada na sua conta no ${productName}`,
    paragraphs: [
      `Em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília, alguém que estava na sua conta criou a chave de API “${name}”, que começa por ${start}, ${until}. Com ela um programa pode, sem senha nem código: ${formatList(scopes.map((scope) => deeds[scope as Scope] ?? scope))}.`,
      'Se foi você, não é preciso fazer nada.',
      'Se não foi, apague a chave agora em Integrações, e troque a senha: trocar a senha não apaga a chave. Suas empresas e seus documentos continuam guardados.',
    ],
    button: { label: 'Abrir Integrações', url: `${publicUrl}/integracoes#chaves` },
    ...(address && { footnote: `A chave foi criada do endereço de rede ${address}.` }),
  }
}

/** The letters about API keys, by kind. */
export const keyMails: Record<string, MailKind> = { 'chave-criada': made }
