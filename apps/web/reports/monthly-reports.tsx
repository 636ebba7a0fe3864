import {
  addMonthlyReport,
  groupName,
  listMonthlyReports,
  type MonthlyReport,
  monthlyReportsMax,
  removeMonthlyReport,
  subjectNames,
} from '@vigia/contract/reports'
import { Link } from 'react-router'
import { companyText, useCompanies } from '../lib/companies.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { type ReportQuestion, writeQuestion } from './question.ts'

/** The reports that the person receives by e-mail, and a way to receive the one that is shown. */
export function MonthlyReports({ question }: { question: ReportQuestion }) {
  const { data = [] } = useScreenQuery(listMonthlyReports, {})
  const { data: companies = [] } = useCompanies()
  const told = { onSuccess: ({ message }: { message: string }) => notifySuccess(message) }
  const add = useAction(addMonthlyReport, told)
  const remove = useAction(removeMonthlyReport, told)
  const { subject, group, company } = question
  const isThere = data.some(
    ({ tipo, por, idEmpresa }) => tipo === subject && por === group && (idEmpresa ?? '') === company,
  )
  const nameOf = ({ tipo, por, idEmpresa }: MonthlyReport) => {
    const company = companies.find(({ id }) => id === idEmpresa)
    const whose = idEmpresa && (company ? companyText(company, companies) : 'uma empresa')
    return `${subjectNames[tipo]} por ${groupName(tipo, por)}${whose ? `, ${whose}` : ''}`
  }
  return (
    <section aria-labelledby="report-monthly" className="mt-8 print:hidden">
      <h2 id="report-monthly" className="text-lg">
        Por e-mail todo mês
      </h2>
      <p className="mt-1 text-muted">
        No dia 1º chega o relatório do mês que terminou, com as vinte maiores linhas. Até {monthlyReportsMax} por
        pessoa.
      </p>
      {!isThere && (
        <Button
          variant="outline"
          size="sm"
          className="mt-3"
          busy={add.isPending}
          onClick={() => add.mutate({ body: { Tipo: subject, Por: group, ...(company && { IdEmpresa: company }) } })}
        >
          Receber “{subjectNames[subject]} por {groupName(subject, group)}” todo mês
        </Button>
      )}
      {data.length > 0 && (
        <ul className="ledger mt-3 [&>li]:border-line [&>li]:border-b">
          {data.map((one) => (
            <li key={one.id} className="flex items-center justify-between gap-3 py-1.5">
              <Link
                to={`/relatorios?${writeQuestion({ ...question, subject: one.tipo, group: one.por, company: one.idEmpresa ?? '', search: '', page: 1 })}`}
                className="min-w-0 break-words underline underline-offset-3 hover:text-brand"
              >
                {nameOf(one)}
              </Link>
              <Button
                variant="ghost"
                size="sm"
                aria-label={`Deixar de receber ${nameOf(one)}`}
                busy={remove.isPending}
                onClick={() => remove.mutate({ body: { id: one.id } })}
              >
                Deixar de receber
              </Button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
