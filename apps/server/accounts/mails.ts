import { formatBrasiliaDayAndTime, formatList } from '@vigia/contract/text'
import { z } from 'zod'
import type { MailKind } from '../platform/mail/mail.ts'
import { createConfirmation } from './confirmation.ts'
import { createEmailChange } from './email-change.ts'
import { createRecovery } from './recovery.ts'
import { findAccount } from './sessions.ts'
import { WaysIn } from './ways-in.ts'

const Occasion = z.object({ at: z.iso.datetime(), address: z.string() })

const SecondFactorOccasion = z.object({
  at: z.iso.datetime(),
  address: z.string().optional(),
  what: z.enum(['ligada', 'desligada', 'codigo-usado', 'codigos-trocados', 'passkey-cadastrada', 'passkey-removida']),
})

const PasswordOccasion = Occasion.extend({ how: z.enum(['link', 'session']), closed: WaysIn, open: WaysIn })

/** The letters about accounts, by kind. None of them names the person: the name was chosen at the sign-up, for which anybody may give any e-mail. */
export const accountMails: Record<string, MailKind> = {
  'confirmar-email': async (ctx, { id, recipient, payload }) => {
    const { productName, publicUrl } = ctx.config
    const { at, address } = Occasion.parse(payload)
    const link = await createConfirmation(ctx, { mailId: id, email: recipient, at })
    if (!link) return null
    return {
      subject: `Confirme o seu e-mail no ${productName}`,
      paragraphs: [
        `Alguém criou uma conta no ${productName} com este e-mail. Se foi você, abra o endereço abaixo e confirme: a partir daí a conta pode guardar certificados digitais, e os avisos chegam aqui.`,
        `O link vale até ${formatBrasiliaDayAndTime(link.expiresAt)}, no horário de Brasília, e uma vez só. Para receber outro, entre na conta e use "Enviar de novo".`,
        'Se não foi você, não confirme e não é preciso fazer nada: sem a confirmação nenhum aviso desta conta é enviado a você.',
      ],
      button: { label: 'Confirmar o e-mail', url: `${publicUrl}/confirmar-email/${link.token}` },
      footnote: `Pedido feito em ${formatBrasiliaDayAndTime(new Date(at))}, do endereço de rede ${address}.`,
    }
  },

  'novo-email': async (ctx, { id, workspaceId, recipient, payload }) => {
    const { productName, publicUrl } = ctx.config
    const { accountId, at, address } = Occasion.extend({ accountId: z.int() }).parse(payload)
    if (workspaceId === null) return null
    const link = await createEmailChange(ctx, { workspaceId, accountId }, { id, email: recipient, at })
    if (link === 'taken')
      return {
        subject: `Este e-mail já tem uma conta no ${productName}`,
        paragraphs: [
          'Alguém pediu para usar este e-mail em outra conta, mas ele já tem uma. Nada foi alterado em nenhuma das duas.',
          'Se foi você, use outro e-mail, ou exclua antes a conta que já existe com este.',
          'Se não foi você, não é preciso fazer nada.',
        ],
        button: { label: 'Fazer login', url: `${publicUrl}/login` },
      }
    if (!link) return null
    return {
      subject: `Confirme o seu novo e-mail no ${productName}`,
      paragraphs: [
        `Alguém pediu para usar este e-mail em uma conta do ${productName}. Se foi você, abra o endereço abaixo e confirme: a partir daí você entra com este e-mail, e os avisos chegam aqui.`,
        `O link vale até ${formatBrasiliaDayAndTime(link.expiresAt)}, no horário de Brasília, e uma vez só.`,
        'Se não foi você, não confirme e não é preciso fazer nada: sem a confirmação nada muda.',
      ],
      button: { label: 'Confirmar o e-mail', url: `${publicUrl}/confirmar-email/${link.token}` },
      footnote: `Pedido feito em ${formatBrasiliaDayAndTime(new Date(at))}, do endereço de rede ${address}.`,
    }
  },

  'troca-de-email': async ({ config: { productName, publicUrl } }, { payload }) => {
    const { at, address } = Occasion.parse(payload)
    return {
      subject: `Alguém pediu para trocar o e-mail da sua conta no ${productName}`,
      paragraphs: [
        `Em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília, alguém que estava na sua conta e sabia a senha pediu que ela passe a usar outro e-mail. A troca só acontece se o link enviado ao outro for aberto em 24 horas.`,
        'Se foi você, não é preciso fazer nada aqui.',
        'Se não foi, troque a senha agora: isso desfaz o pedido e encerra as outras sessões. Em "Minha conta" você também desiste da troca.',
      ],
      button: { label: 'Abrir a minha conta', url: `${publicUrl}/conta` },
      footnote: `O pedido veio do endereço de rede ${address}.`,
    }
  },

  'email-trocado': async ({ config: { productName, publicUrl } }, { payload }) => {
    const { at, address } = Occasion.parse(payload)
    return {
      subject: `O e-mail da sua conta no ${productName} foi trocado`,
      paragraphs: [
        `Em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília, a conta que tinha este e-mail passou a usar outro, pedido por quem sabia a senha e confirmado por quem o recebe.`,
        'Se foi você, não é preciso fazer nada. Para entrar, use o e-mail novo.',
        'Se não foi, fale com a gente agora: suas empresas e seus documentos continuam guardados.',
      ],
      button: { label: 'Fale com a Gente', url: `${publicUrl}/#contato` },
      footnote: `A confirmação veio do endereço de rede ${address}.`,
    }
  },

  'conta-existente': async (ctx, { recipient, payload }) => {
    const { productName, publicUrl } = ctx.config
    const { told } = z.object({ told: z.boolean().default(true) }).parse(payload)
    const account = await findAccount(ctx, recipient)
    if (!account || account.shared || !told) return null
    return {
      subject: `Você já tem uma conta no ${productName}`,
      paragraphs: [
        'Alguém tentou criar uma conta com este e-mail, que já tem uma. Nada foi alterado: a senha, as empresas e os documentos continuam como estavam.',
        'Se foi você, entre com a senha que já tem. Se não se lembra dela, use "Esqueceu sua senha?" na tela de login.',
        'Se não foi você, não é preciso fazer nada.',
      ],
      button: { label: 'Fazer login', url: `${publicUrl}/login` },
    }
  },

  'recuperar-senha': async (ctx, { id, recipient, payload }) => {
    const { productName, publicUrl } = ctx.config
    const { at, address } = Occasion.parse(payload)
    const link = await createRecovery(ctx, { mailId: id, email: recipient, at, address })
    if (!link) return null
    return {
      subject: `Crie uma senha nova para a sua conta no ${productName}`,
      paragraphs: [
        'Alguém pediu para trocar a senha da conta com este e-mail. Se foi você, abra o endereço abaixo.',
        `O link vale até ${formatBrasiliaDayAndTime(link.expiresAt)}, no horário de Brasília, e uma vez só.`,
        'Com a senha nova todas as sessões são encerradas, as passkeys são removidas e as chaves de API que você criou nos últimos 30 dias são apagadas: se alguém mais entrou na conta, fica de fora. Os seus webhooks e as suas regras que enviam a Ciência ficam em pausa, para você conferir.',
        'Se não foi você, não é preciso fazer nada: a senha continua a mesma, e só quem recebe este e-mail pode usar o link.',
      ],
      button: { label: 'Criar senha nova', url: `${publicUrl}/atualizar-senha/${link.token}` },
      footnote: `Pedido feito em ${formatBrasiliaDayAndTime(new Date(at))}, do endereço de rede ${address}.`,
    }
  },

  'senha-alterada': async ({ config: { productName, publicUrl } }, { payload }) => {
    const { at, address, how, closed, open } = PasswordOccasion.parse(payload)
    const by = {
      link: 'com o link enviado a este e-mail. Todas as sessões abertas foram encerradas.',
      session: 'por quem estava com a conta aberta e sabia a senha anterior. As outras sessões foram encerradas.',
    }[how]
    return {
      subject: `A senha da sua conta no ${productName} foi trocada`,
      paragraphs: [
        `A senha foi trocada em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília, ${by}`,
        waysText(closed) &&
          `Com isso deixaram de valer: ${waysText(closed)}. Se eram suas, cadastre as passkeys e crie as chaves de novo.`,
        sendingText(closed) &&
          `Ficaram em pausa, para você conferir: ${sendingText(closed)}. Nenhum documento se perdeu. Se são seus, reative os webhooks em Integrações e ligue as regras em "Respostas por regra"; se não, apague.`,
        waysText(open) &&
          `Continuam valendo: ${waysText(open)}. Apague em "Minha conta" e em Integrações o que você não reconhece: a senha nova não impede quem as tem.`,
        sendingText(open) &&
          `Continuam enviando: ${sendingText(open)}. Apague em Integrações e em "Respostas por regra" o que você não reconhece.`,
        open.people.length > 0 &&
          `Nos últimos 30 dias esta conta convidou, e continua com acesso quem aceitou: ${formatList(open.people)}. Tire em "Equipe" quem você não reconhece: a senha nova não impede quem já entrou.`,
        `Se foi você, ${waysText(open) || sendingText(open) ? 'não é preciso fazer mais nada' : 'não é preciso fazer nada'}.`,
        'Se não foi, abra a tela de login agora e use "Esqueceu sua senha?": a senha nova encerra as sessões de quem entrou, remove as passkeys e apaga as chaves de API dos últimos 30 dias e põe em pausa os webhooks e as regras que enviam. Suas empresas e seus documentos continuam guardados.',
      ].filter((text): text is string => Boolean(text)),
      button: { label: 'Abrir a tela de login', url: `${publicUrl}/login` },
      footnote: `A troca veio do endereço de rede ${address}.`,
    }
  },

  'duas-etapas': async ({ config: { productName, publicUrl } }, { payload }) => {
    const { at, address, what } = SecondFactorOccasion.parse(payload)
    const moment = `Em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília,`
    const [subject, sentence] = {
      ligada: [
        'A verificação em duas etapas foi ligada',
        'a conta passou a pedir, além da senha, um código do aplicativo autenticador.',
      ],
      desligada: ['A verificação em duas etapas foi desligada', 'a conta deixou de pedir um código além da senha.'],
      'codigo-usado': [
        'Um código de recuperação foi usado',
        'alguém usou um dos códigos de recuperação da conta. Ele não vale mais.',
      ],
      'codigos-trocados': [
        'Há códigos de recuperação novos',
        'foram gerados outros códigos de recuperação. Os anteriores não valem mais.',
      ],
      'passkey-cadastrada': [
        'Uma passkey foi cadastrada',
        'a conta passou a aceitar uma passkey, que entra sem a senha.',
      ],
      'passkey-removida': ['Uma passkey foi removida', 'uma passkey da conta deixou de valer.'],
    }[what] as [string, string]
    return {
      subject: `${subject} na sua conta no ${productName}`,
      paragraphs: [
        `${moment} ${sentence}`,
        'Se foi você, não é preciso fazer nada.',
        what === 'ligada'
          ? 'Se não foi, fale com a gente agora: sem o código você não entra. Suas empresas e seus documentos continuam guardados.'
          : what === 'passkey-cadastrada'
            ? 'Se não foi, remova-a agora em "Minha conta" e troque a senha: quem a tem entra sem ela. Suas empresas e seus documentos continuam guardados.'
            : 'Se não foi, troque a senha agora: isso encerra as outras sessões. Suas empresas e seus documentos continuam guardados.',
      ],
      button:
        what === 'ligada'
          ? { label: 'Fale com a Gente', url: `${publicUrl}/#contato` }
          : { label: 'Abrir a minha conta', url: `${publicUrl}/conta` },
      footnote: address ? `Isso veio do endereço de rede ${address}.` : 'Isso foi feito por quem administra o sistema.',
    }
  },

  'aparelho-novo': async ({ config: { productName, publicUrl } }, { payload }) => {
    const { at, address, device } = Occasion.extend({ device: z.string() }).parse(payload)
    return {
      subject: `Alguém entrou na sua conta no ${productName} por outro aparelho`,
      paragraphs: [
        `Em ${formatBrasiliaDayAndTime(new Date(at))}, no horário de Brasília, alguém entrou com a sua senha por um programa que esta conta não usou nos últimos dias: ${device}.`,
        'Se foi você, não é preciso fazer nada.',
        'Se não foi, troque a senha agora: a senha nova encerra as outras sessões. Em "Minha conta" você vê onde a conta está aberta. Suas empresas e seus documentos continuam guardados.',
      ],
      button: { label: 'Abrir a minha conta', url: `${publicUrl}/conta` },
      footnote: `A entrada veio do endereço de rede ${address}.`,
    }
  },
}

function waysText({ passkeys, keys }: WaysIn): string {
  return formatList([
    ...(passkeys.length > 0 ? [`passkeys: ${passkeys.map((name) => `“${name}”`).join(', ')}`] : []),
    ...(keys.length > 0 ? [`chaves de API: ${keys.join(', ')}`] : []),
  ])
}

function sendingText({ webhooks, rules }: WaysIn): string {
  return formatList([
    ...(webhooks.length > 0 ? [`webhooks para ${webhooks.join(', ')}`] : []),
    ...(rules.length > 0 ? [`regras de resposta: ${rules.join(', ')}`] : []),
  ])
}
