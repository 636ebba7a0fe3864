import { z } from 'zod'
import { ContactForm } from './forms.ts'
import { route } from './route.ts'

/** Sends a message to the operator; ours, because the specification has the form without a call. */
export const sendContact = route({
  method: 'POST',
  path: '/v1/api/Contato',
  access: 'public',
  summary: 'Envia uma mensagem a quem cuida do produto.',
  refusals: [429],
  body: ContactForm,
})

/** A number of the landing page, written as it is shown. */
const figure = z.string().trim().min(1).max(20)

/** A sentence or two about privacy, in the words of the operator. */
const statement = z.string().trim().min(1).max(1_000).nullable()

/** Settings of the installation for its pages; ours. No secrets: every visitor can read them. */
export const SiteSettings = z.object({
  productName: z.string(),
  /** Public URL of the installation. */
  publicUrl: z.string(),
  ambiente: z.enum(['simulado', 'homologacao', 'producao']),
  contactEmail: z.string().nullable(),
  /** Digits with country and area code, as wa.me takes them. */
  whatsapp: z.string().nullable(),
  /** False: accounts need an invitation. */
  cadastroAberto: z.boolean(),
  /** False: there is no trial, plan or price. */
  planos: z.boolean(),
  /** The shared login of "Ver Demonstração". */
  demo: z.object({ email: z.string(), senha: z.string() }).nullable(),
  numeros: z.object({ uptime: figure, notas: figure, empresas: figure, suporte: figure }),
  depoimentos: z
    .array(
      z.object({
        nome: z.string().trim().min(1).max(80),
        papel: z.string().trim().min(1).max(80),
        empresa: z.string().trim().max(80).default(''),
        texto: z.string().trim().min(1).max(400),
        nota: z.int().min(1).max(5),
        /** Shown instead of a portrait. */
        iniciais: z.string(),
      }),
    )
    .length(6),
  /** Whether numbers and testimonials are examples, which the pages then tell. */
  exemplos: z.object({ numeros: z.boolean(), depoimentos: z.boolean() }),
  /** Password of the certificates of `certificado-de-teste`; null where there are none. */
  senhaDoCertificadoDeTeste: z.string().nullable(),
  /** A simulated installation open to the public, which accepts only those certificates. */
  demonstracaoAberta: z.boolean(),
  pesquisa: z.object({ endereco: z.string(), ambiente: z.string() }).nullable(),
  /** Null: not set by the operator. */
  privacidade: z.object({
    /** Legal controller of the installation: name, CNPJ, address. */
    responsavel: statement,
    /** The encarregado of the LGPD (art. 41), and how to reach them. */
    encarregado: statement,
    /** Security incidents reported to people, or a statement that there were none. */
    incidentes: statement,
  }),
})
export type SiteSettings = z.output<typeof SiteSettings>

/** The first letters of the first and the last word of a name. */
export function initials(name: string): string {
  const words = name.split(/\s+/)
  return [words[0], words.length > 1 ? words.at(-1) : '']
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase()
}

/** Default contents of the landing page, marked there as an example. */
export const exampleSite: Pick<SiteSettings, 'numeros' | 'depoimentos'> = {
  numeros: { uptime: '99.9%', notas: '1M+', empresas: '30+', suporte: '24/7' },
  depoimentos: [
    {
      nome: 'Marina Duarte',
      papel: 'Analista fiscal',
      empresa: '',
      texto: 'Abro de manhã, vejo o que chegou e o que foi cancelado. A planilha de chaves ficou no passado.',
      nota: 5,
      iniciais: 'MD',
    },
    {
      nome: 'Roberto Salles',
      papel: 'Dono de distribuidora',
      empresa: '',
      texto: 'Descobri uma nota emitida contra o meu CNPJ que ninguém aqui tinha comprado, e respondi no mesmo dia.',
      nota: 5,
      iniciais: 'RS',
    },
    {
      nome: 'Cláudia Pimenta',
      papel: 'Contadora',
      empresa: '',
      texto:
        'No fechamento procuro só os clientes em que falta alguma coisa. Quando a SEFAZ bloqueia, a tela diz até quando.',
      nota: 5,
      iniciais: 'CP',
    },
    {
      nome: 'Joaquim Teles',
      papel: 'Coordenador de recebimento',
      empresa: '',
      texto: 'O caminhão chega com a chave no papel: em dez segundos sei se a nota existe e se bate com o pedido.',
      nota: 5,
      iniciais: 'JT',
    },
    {
      nome: 'Beatriz Nogueira',
      papel: 'Coordenadora tributária',
      empresa: '',
      texto: 'A auditoria pediu uma nota de três anos atrás. Mandei o XML original antes de terminar a ligação.',
      nota: 5,
      iniciais: 'BN',
    },
    {
      nome: 'Paulo Andrade',
      papel: 'Gerente de logística',
      empresa: '',
      texto: 'Vejo quem paga cada frete, quais notas foram na carga e quantos dias ainda tenho para contestar.',
      nota: 5,
      iniciais: 'PA',
    },
  ],
}

/**
 * Replaces each text and number of `settings` by a placeholder like `%NUMEROS_UPTIME%`, for pages
 * built before their installation is known.
 */
export function placesFor<T extends Partial<SiteSettings>>(settings: T): T {
  // Numbers become texts too: a page only shows them.
  return mapLeaves(settings, '', (_, name) => `%${name}%`) as T
}

/** Fills the placeholders of a page with escaped settings; missing ones become empty text. */
export function fillPage(html: string, settings: SiteSettings): string {
  const words = new Map<string, string>()
  mapLeaves(settings, '', (value, name) => words.set(name, escapeHtml(String(value ?? ''))))
  return html.replace(/"%SITE_SETTINGS%"|%([A-Z][A-Z0-9_]*)%/g, (_, name?: string) =>
    // Inside a script element only its end tag could end it.
    name ? (words.get(name) ?? '') : JSON.stringify(settings).replaceAll('<', '\\u003c'),
  )
}

function mapLeaves(value: unknown, name: string, leaf: (value: unknown, name: string) => unknown): unknown {
  const under = (key: string) => [name, key.replace(/[A-Z]/g, '_$&').toUpperCase()].filter(Boolean).join('_')
  if (Array.isArray(value)) return value.map((item, index) => mapLeaves(item, under(String(index)), leaf))
  if (typeof value !== 'object' || value === null) return leaf(value, name)
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapLeaves(part, under(key), leaf)]))
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
