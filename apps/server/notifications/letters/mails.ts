import { type Alert, bandNames } from '@vigia/contract/alerts'
import { dueDocuments } from '@vigia/contract/pending'
import { groupName, type Report } from '@vigia/contract/reports'
import {
  formatCount,
  formatDate,
  formatInteger,
  formatList,
  formatMoney,
  formatMonth,
  writeBrasiliaTime,
} from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { familyOf } from '@vigia/dfe/families/lookup'
import type { z } from 'zod'
import { listCompanies } from '../../companies/companies.ts'
import { countWaiting } from '../../documents/unread.ts'
import { dueWords, readDue } from '../../documents/workflow/agenda.ts'
import { readNews } from '../../insights/alerts/news.ts'
import { readReport, titleOf } from '../../insights/reports/reports.ts'
import type { Context } from '../../platform/context.ts'
import { beyondLimit, limitTo, readWorkspace } from '../../platform/database.ts'
import { type Letter, type LetterLine, type MailKind, whyReceived, withoutLinks } from '../../platform/mail/mail.ts'
import { findReader, LetterPayload, type Reader, wantsCritical, wantsDigest } from './letters.ts'
import { readMonthly } from './monthly.ts'
import { type Stop, writeStop } from './stop.ts'

// The letters are written when they leave, from what their person may see by then. Names and sentences of documents are words of others.

const criticalLines = 10
const digestLines = 25
const reasonsMax = 3

type Write = (
  ctx: Context,
  workspaceId: number,
  payload: z.output<typeof LetterPayload>,
  reader: Reader,
) => Promise<Letter | null>

const kind =
  (about: Stop['about'], write: Write): MailKind =>
  async (ctx, { workspaceId, recipient, payload: given }) => {
    if (workspaceId === null) return null
    const payload = LetterPayload.parse(given)
    const { accountId } = payload
    const reader = await readWorkspace(ctx, workspaceId, (ctx) =>
      findReader(ctx, { workspaceId, accountId }, recipient),
    )
    if (!reader) return null
    const shown = reader.companies === null ? ctx : { ...ctx, db: limitTo(ctx.limited!, reader.companies, ctx.db) }
    const letter = await write(shown, workspaceId, payload, reader)
    if (!letter) return null
    const secret = writeStop(ctx, { workspaceId, accountId, about })
    return {
      ...letter,
      footnote: `${letter.footnote} Você escolhe o que recebe ${about === 'relatorios' ? 'na página Relatórios' : 'em “Minha conta”, Avisos por e-mail'}.`,
      stopUrl: `${ctx.config.publicUrl}/avisos/${secret}`,
    }
  }

const whatIsSafe =
  'Um alerta não acusa ninguém: é um motivo para conferir antes de pagar. Os documentos estão guardados, e nada foi enviado à SEFAZ por causa dele.'

const writeAlerts =
  (onlyCritical: boolean): Write =>
  async (ctx, workspaceId, { after = 0n, upTo = 0n }, { choice }) => {
    if (!(onlyCritical ? wantsCritical(choice) : wantsDigest(choice))) return null
    const { alerts, total, cnpjs } = await readWorkspace(ctx, workspaceId, (ctx) =>
      readNews(ctx, workspaceId, { after, upTo, onlyCritical }, onlyCritical ? criticalLines : digestLines),
    )
    if (total === 0) return null
    const { publicUrl } = ctx.config
    const rest = restText(total, alerts.length)
    const words = onlyCritical
      ? {
          subject: total === 1 ? 'Alerta crítico' : `${formatInteger(total)} alertas críticos`,
          paragraph:
            total === 1
              ? 'Um documento tem um alerta crítico:'
              : `${formatInteger(total)} documentos têm alertas críticos${rest}:`,
          button: { label: 'Ver os alertas críticos', url: `${publicUrl}/alertas?faixa=critico` },
          when: 'Alertas críticos são avisados na hora, muitos juntos numa só mensagem.',
        }
      : {
          subject: formatCount(total, 'alerta novo', 'alertas novos'),
          paragraph: `Desde o último resumo ${total === 1 ? 'apareceu 1 alerta, que continua em aberto' : `apareceram ${formatInteger(total)} alertas que continuam em aberto, do mais grave ao mais leve${rest}`}:`,
          button: { label: 'Ver todos os alertas', url: `${publicUrl}/alertas` },
          when: 'Este resumo sai todo dia às 7h, no horário de Brasília, quando há alertas novos.',
        }
    return {
      subject: `${words.subject}: ${whose(cnpjs)}`,
      paragraphs: [words.paragraph],
      lines: alerts.map((alert) => lineOf(publicUrl, alert)),
      button: words.button,
      footnote: `${whatIsSafe} ${whyReceived(ctx.config)} ${words.when}`,
    }
  }

// The first lines are shown; in the list are all.
const restText = (total: number, shown: number) =>
  total > shown ? `; aqui estão ${formatInteger(shown)}, e mais ${formatInteger(total - shown)} na lista` : ''

function whose([first, second]: readonly string[]): string {
  const cnpj = `CNPJ ${formatCnpj(first ?? '')}`
  return second === undefined ? cnpj : `${cnpj} e outros`
}

function lineOf(publicUrl: string, alert: Alert): LetterLine {
  const { idDFe, tipoDFe, numero, emitente, empresa, valor, faixa, motivos } = alert
  // Reasons that depend on habits still being learned are shown on the screen only.
  const told = motivos.filter(({ emAprendizado }) => !emAprendizado)
  const reasons = told.slice(0, reasonsMax).map(({ frase }) => withoutLinks(frase))
  const rest = told.length - reasons.length
  return {
    title: withoutLinks(
      `${familyOf(tipoDFe).name} ${formatInteger(numero)} de ${emitente}, para ${empresa}, ${formatMoney(valor)}: ${bandNames[faixa]}`,
    ),
    detail: [...reasons, ...(rest > 0 ? [`E mais ${formatCount(rest, 'motivo', 'motivos')}.`] : [])].join('\n'),
    url: `${publicUrl}/alertas?documento=${encodeURIComponent(idDFe)}`,
  }
}

const daysAhead = { diario: 7, semanal: 15 }
const certificateDays = 30
const endedDays = 7
const deadlineLines = 25
const certificateLines = 10
const dayMs = 86_400_000

const writeDeadlines: Write = async (ctx, workspaceId, _, { choice: { deadlines } }) => {
  if (deadlines === 'nenhum') return null
  const { publicUrl } = ctx.config
  const now = new Date()
  const about = { days: daysAhead[deadlines], companies: null }
  const [due, companies] = await readWorkspace(ctx, workspaceId, async (ctx) => [
    await readDue(ctx, workspaceId, about),
    await listCompanies(ctx, workspaceId, undefined),
  ])
  const ending = companies
    .filter(
      ({ active, valid_to }) =>
        active &&
        valid_to !== null &&
        valid_to.getTime() > now.getTime() - endedDays * dayMs &&
        valid_to.getTime() < now.getTime() + certificateDays * dayMs,
    )
    .sort((a, b) => a.valid_to!.getTime() - b.valid_to!.getTime())
  if (due.length + ending.length === 0) return null
  const documents = due.reduce((total, { totalDeItens }) => total + totalDeItens, 0)
  const ended = ending.filter(({ valid_to }) => valid_to! <= now).length
  const what = (
    [
      [documents, 'documento para responder', 'documentos para responder', ` em até ${about.days} dias`],
      [ended, 'certificado vencido', 'certificados vencidos', ''],
      [ending.length - ended, 'certificado a vencer', 'certificados a vencer', ` em até ${certificateDays} dias`],
    ] as const
  ).flatMap(([count, one, many, within]) => (count > 0 ? [`${formatCount(count, one, many)}${within}`] : []))
  const when = deadlines === 'diario' ? 'todo dia' : 'toda segunda-feira'
  return {
    subject: `Prazos: ${formatList(what)}`,
    paragraphs: [
      'O que termina primeiro vem primeiro. Até o último dia nada se perde; depois dele a SEFAZ não aceita mais a resposta.',
      ...partText('Dos prazos', due.length, deadlineLines),
      ...partText('Dos certificados', ending.length, certificateLines),
    ],
    lines: [
      ...due
        .toSorted((a, b) => a.dia.localeCompare(b.dia))
        .slice(0, deadlineLines)
        .map(({ dia, tipoDFe, para, totalDeItens, valorTotal, totalDeEmpresas, empresas }) => {
          const { title, one, many } = dueWords[para]
          const rest = totalDeEmpresas - empresas.length
          const names = formatList(rest > 0 ? [...empresas, `mais ${formatInteger(rest)}`] : empresas)
          return {
            title: `Até ${formatDate(dia)}: ${title}, ${formatCount(totalDeItens, one, many)}`,
            detail: withoutLinks(`${names} · ${formatMoney(valorTotal)}`),
            url: publicUrl + dueDocuments({ dia, tipoDFe, para }).to,
          }
        }),
      ...ending.slice(0, certificateLines).map(({ name, cnpj, public_id, valid_to }) => ({
        title: `${valid_to! <= now ? 'Venceu' : 'Vence'} em ${formatDate(writeBrasiliaTime(valid_to!).slice(0, 10))}: certificado de ${withoutLinks(name)}`,
        detail: `CNPJ ${formatCnpj(cnpj)}. Sem outro certificado a captura não continua.`,
        url: `${publicUrl}/empresas/editar/${public_id}`,
      })),
    ],
    button: { label: 'Ver todos os prazos', url: `${publicUrl}/prazos` },
    footnote: `${whyReceived(ctx.config)} Este resumo sai ${when} às 7h, no horário de Brasília, quando há prazos.`,
  }
}

const partText = (of: string, all: number, shown: number) =>
  all > shown ? [`${of} aqui estão ${shown}, e mais ${formatInteger(all - shown)} na lista.`] : []

const reportLines = 20

const writeReport: Write = async (ctx, workspaceId, { accountId, report }, { companies }) => {
  if (!report) return null
  const { month } = report
  const all = await readWorkspace(beyondLimit(ctx), workspaceId, (ctx) => readMonthly(ctx, { workspaceId, accountId }))
  const found = all.find(({ id }) => id === report.id)
  // Removed meanwhile, or of a company that the person sees no longer.
  if (!found || (found.companyId !== null && companies !== null && !companies.includes(found.companyId))) return null
  const { subject, group, companyId, publicId } = found
  const question = { subject, group, from: month, to: month, companyId: companyId ?? undefined, text: '' }
  const { linhas, demais, total } = await readReport(ctx, workspaceId, question, 1)
  const waiting = await readWorkspace(ctx, workspaceId, (inside) => countWaiting(inside, workspaceId))
  if (total.valor === 0 && total.anterior === 0 && total.anoAnterior === 0) return null
  const { publicUrl } = ctx.config
  const title = titleOf(found)
  const whole = found.companyName === null ? '' : ` de ${withoutLinks(found.companyName)}`
  const address = new URLSearchParams({ tipo: subject, por: group, de: month, ate: month })
  if (publicId !== null) address.set('empresa', publicId)
  const shown = linhas.slice(0, reportLines)
  const rest = total.valor - shown.reduce((sum, { valor }) => sum + valor, 0)
  const others = demais || linhas.length > shown.length
  return {
    subject: `${title}${whole}: ${formatMonth(month)}`,
    paragraphs: [
      `Em ${formatMonth(month)} foram ${formatMoney(total.valor)}${total.documentos === null ? '' : ` em ${formatCount(total.documentos, 'documento', 'documentos')}`}${waiting > 0 ? '' : comparedText(total)}.`,
      ...(waiting > 0
        ? [
            `Ainda estamos lendo ${formatCount(waiting, 'documento', 'documentos')} por dentro: os números podem crescer.`,
          ]
        : []),
      `Por ${groupName(subject, group)}, do maior ao menor${group === 'produto' ? ', o valor dos itens' : ''}:`,
    ],
    lines: [
      ...shown.map((line) => ({
        title: withoutLinks(`${line.nome}: ${formatMoney(line.valor)}`),
        detail: withoutLinks(
          [
            line.produto?.fornecedor,
            line.documentos !== null && formatCount(line.documentos, 'documento', 'documentos'),
            `mês anterior ${formatMoney(line.anterior)}`,
            `há um ano ${formatMoney(line.anoAnterior)}`,
          ]
            .filter(Boolean)
            .join(' · '),
        ),
        url: `${publicUrl}/relatorios?${address}`,
      })),
      ...(others
        ? [
            {
              title: `Demais: ${formatMoney(rest)}`,
              detail: 'O que não está nas linhas acima.',
              url: `${publicUrl}/relatorios?${address}`,
            },
          ]
        : []),
    ],
    button: { label: 'Ver o relatório', url: `${publicUrl}/relatorios?${address}` },
    footnote: `O relatório soma os documentos já lidos que estão valendo: os cancelados não entram, e os que chegarem depois mudam os números da página. ${whyReceived(ctx.config)} Este relatório sai no dia 1º, às 7h de Brasília.`,
  }
}

// ", 12% a mais que no mês anterior (R$ 1.000,00) e 3% a menos que um ano antes (R$ 1.200,00)"
function comparedText({ valor, anterior, anoAnterior }: Report['total']): string {
  const parts = (
    [
      [anterior, 'no mês anterior'],
      [anoAnterior, 'um ano antes'],
    ] as const
  ).flatMap(([then, when]) => {
    if (then === 0) return []
    const percent = Math.round(((valor - then) / then) * 100)
    if (percent === 0) return [`quase o mesmo que ${when} (${formatMoney(then)})`]
    return [
      `${formatInteger(Math.abs(percent))}% a ${percent > 0 ? 'mais' : 'menos'} que ${when} (${formatMoney(then)})`,
    ]
  })
  return parts.length > 0 ? `, ${formatList(parts)}` : ''
}

/** The letters of this slice; people who see some companies only are written of what these show. */
export const letterMails: Readonly<Record<string, MailKind>> = {
  'alertas-criticos': kind('alertas', writeAlerts(true)),
  'resumo-alertas': kind('alertas', writeAlerts(false)),
  'resumo-prazos': kind('prazos', writeDeadlines),
  'relatorio-mensal': kind('relatorios', writeReport),
}
