import type { Due } from '@vigia/contract/agenda'
import type { CompanyRow } from '@vigia/contract/companies'
import { dueDocuments } from '@vigia/contract/pending'
import { formatCount, formatList, formatMoney, formatTime, writeBrasiliaTime } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { capturesOf, hasEnded } from '../lib/capture.ts'
import { companyText } from '../lib/companies.ts'
import { documentKinds } from '../lib/kinds.ts'

/** Something that ends on a day, and the screen for it. */
export interface AgendaEntry {
  kind: 'answer' | 'certificate' | 'capture'
  /** "Ciência da Operação: 12 notas" */
  words: string
  /** "SOL, LUA e mais 3" */
  detail: string
  /** In a column of its own, where it is never cut. */
  amount?: string
  to: string
}

/** A day (aaaa-MM-dd) with what ends on it. */
export interface AgendaDay {
  day: string
  entries: AgendaEntry[]
}

/** The day (aaaa-MM-dd) in São Paulo, for deadlines. */
export const dayOf = (at: Date): string => writeBrasiliaTime(at).slice(0, 10)

/** How long before its end a certificate is listed. */
export const certificateDays = 60

const answers: Record<Due['para'], string> = {
  ciencia: 'Ciência da Operação',
  manifestacao: 'Resposta final',
  desacordo: 'Prestação em Desacordo',
}

/** Groups deadlines of answers, certificates and pauses by day; overdue ones count as today. */
export function agendaOf(due: readonly Due[], companies: readonly CompanyRow[], now: Date): AgendaDay[] {
  const days = new Map<string, AgendaEntry[]>()
  const add = (day: string, entry: AgendaEntry) => days.set(day, [...(days.get(day) ?? []), entry])
  for (const one of due) add(one.dia, answerEntry(one))
  const today = dayOf(now)
  const last = dayOf(new Date(now.getTime() + certificateDays * 86_400_000))
  for (const company of companies.filter(({ ativa }) => ativa)) {
    const { id, validadeCertificadoA1: validity } = company
    const name = companyText(company, companies)
    if (validity !== null && dayOf(new Date(validity)) <= last) {
      const ended = hasEnded(validity, now)
      add(ended ? today : dayOf(new Date(validity)), {
        kind: 'certificate',
        words: `Certificado ${ended ? 'vencido' : 'vence'}: ${name}`,
        detail: ended
          ? 'Sem outro a captura não continua.'
          : `Às ${formatTime(validity)}. Depois, sem outro, a captura não continua.`,
        to: `/empresas/editar/${id}`,
      })
    }
    for (const { servico, estado, proximaConsulta, causaComum } of capturesOf(company, now))
      if (estado === 'bloqueada' && proximaConsulta !== null && !causaComum)
        add(dayOf(new Date(proximaConsulta)), {
          kind: 'capture',
          words: `Pausa da captura de ${documentKinds[servico].agenda.capture} termina: ${name}`,
          detail: `Às ${formatTime(proximaConsulta)}. Nada se perde: a SEFAZ guarda o que falta.`,
          to: `/empresas/editar/${id}`,
        })
  }
  return [...days].map(([day, entries]) => ({ day, entries })).sort((a, b) => a.day.localeCompare(b.day))
}

function answerEntry(due: Due): AgendaEntry {
  const { tipoDFe, para, totalDeItens, valorTotal, totalDeEmpresas, empresas } = due
  const { one, many } = documentKinds[familyOf(tipoDFe).id].agenda
  const rest = totalDeEmpresas - empresas.length
  const names = formatList(rest > 0 ? [...empresas, `mais ${rest}`] : empresas)
  return {
    kind: 'answer',
    words: `${answers[para]}: ${formatCount(totalDeItens, one, many)}`,
    detail: names,
    amount: formatMoney(valorTotal),
    to: dueDocuments(due).to,
  }
}
