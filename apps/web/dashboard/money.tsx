import { type Alert, listAlerts } from '@vigia/contract/alerts'
import { getReformSheet } from '@vigia/contract/reform'
import { formatCount, formatList, formatMoney, formatMonth } from '@vigia/contract/text'
import { getMoney, type Money as MoneyData } from '@vigia/contract/workspace'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { documentAddress } from '../lib/addresses.ts'
import { capturesOf, certificateState, isTroubled } from '../lib/capture.ts'
import { useCompanies } from '../lib/companies.ts'
import { useScreenQuery } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { buttonClass } from '../ui/button.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { StateMark } from '../ui/state-mark.tsx'

const refreshMs = 60_000
const shownMax = 5
const companiesMax = 4
const namesMax = 3

const roundMoney = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'BRL',
  notation: 'compact',
  maximumFractionDigits: 0,
})

/** Documents to check before they are paid, taxes of last month, carriers and companies; a part without content is not shown. */
export function Money() {
  const { data: money } = useScreenQuery(getMoney, {}, { refreshMs })
  return (
    <>
      {money && money.aConferir.documentos > 0 && <ToCheck {...money.aConferir} />}
      <div className="mb-9 grid grid-cols-[repeat(auto-fill,minmax(min(100%,17rem),1fr))] gap-x-10 gap-y-6 empty:hidden">
        <LastMonth />
        {money && money.transportadoras.length > 0 && <Carriers carriers={money.transportadoras} />}
        <Companies />
      </div>
    </>
  )
}

function ToCheck({ valor, documentos }: MoneyData['aConferir']) {
  const { data } = useScreenQuery(listAlerts, { query: {} }, { refreshMs })
  const isCritical = ({ faixa }: Alert) => Number(faixa === 'critico')
  const alerts = data?.items
    .filter(({ faixa }) => faixa === 'critico' || faixa === 'alto')
    .sort((a, b) => isCritical(b) - isCritical(a) || b.valor - a.valor)
    .slice(0, shownMax)
  return (
    <section aria-labelledby="a-conferir" className="mb-9">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 pb-2">
        <h2 id="a-conferir" className="font-semibold text-xl">
          {roundMoney.format(valor)} para conferir antes de pagar
        </h2>
        <Link to="/alertas" className="text-brand underline underline-offset-3">
          {documentos > shownMax ? `Mais ${documentos - shownMax} e outros alertas` : 'Todos os alertas'}
        </Link>
      </div>
      <ul className="ledger min-h-60 [&>li]:border-line [&>li]:border-b">
        {alerts?.map((alert) => (
          <AlertLine key={alert.idDFe} alert={alert} />
        ))}
      </ul>
    </section>
  )
}

function AlertLine({ alert }: { alert: Alert }) {
  const { idDFe, emitente, valor, faixa, motivos } = alert
  const comparable = motivos.filter(({ comparados }) => comparados.some(({ idDFe }) => idDFe !== null))
  const isOfAnother = (reason: Alert['motivos'][number]) => reason.comparados.some((one) => one.emitente !== emitente)
  // The supplier that this one looks like, or the note that a freight is of; otherwise the heaviest reason.
  const comparing = comparable.find(isOfAnother) ?? comparable.find((reason) => reason === motivos[0])
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
      <span className="min-w-0 flex-1 basis-72">
        <span className="flex flex-wrap items-center gap-x-2">
          <Link to={documentAddress(alert)} className="break-words font-semibold hover:text-brand hover:underline">
            {emitente}
          </Link>
          <Badge tone={faixa === 'critico' ? 'red' : 'yellow'}>{faixa === 'critico' ? 'Crítico' : 'Alto'}</Badge>
        </span>
        <span className="block text-muted text-sm">{(comparing ?? motivos[0])?.frase}</span>
      </span>
      <span className="font-semibold tabular-nums">{formatMoney(valor)}</span>
      <Link
        to={`/alertas?documento=${idDFe}${comparing ? `&comparar=${comparing.regra}` : ''}`}
        className={buttonClass({ variant: 'outline', size: 'sm' })}
      >
        {comparing ? 'Comparar' : 'Ver motivo'}
      </Link>
    </li>
  )
}

function LastMonth() {
  const month = monthBefore(useNow())
  const { data: sheet } = useScreenQuery(getReformSheet, { query: { Mes: month } }, { refreshMs })
  if (!sheet) return null
  const sum = (field: 'ibs' | 'cbs' | 'documentos') => sheet.total.reduce((sum, one) => sum + one[field], 0)
  if (sum('documentos') === 0) return null
  const silent = sheet.semGruposAoTodo
  return (
    <Part title={`IBS e CBS de ${formatMonth(month).replace(/ .*/, '')}`} to={`/reforma?mes=${month}`}>
      <Row name="IBS destacado" value={formatMoney(sum('ibs'))} />
      <Row name="CBS destacada" value={formatMoney(sum('cbs'))} />
      {silent > 0 && (
        <li className="py-2 text-sm">
          <span className="font-semibold">
            {formatCount(silent, 'fornecedor não destacou', 'fornecedores não destacaram')}
          </span>
          <span className="block text-muted">
            {formatList([
              ...sheet.semGrupos.slice(0, namesMax).map(({ nome }) => nome),
              ...(silent > namesMax ? [`mais ${silent - namesMax}`] : []),
            ])}
          </span>
        </li>
      )}
    </Part>
  )
}

// "2026-10", of the day as the person's clock has it.
function monthBefore(now: Date): string {
  const before = new Date(now.getFullYear(), now.getMonth() - 1, 1)
  return `${before.getFullYear()}-${String(before.getMonth() + 1).padStart(2, '0')}`
}

function Carriers({ carriers }: { carriers: MoneyData['transportadoras'] }) {
  return (
    <Part title="Fretes mais caros por quilo" to="/fretes">
      {carriers.map(({ cnpjCpf, nome, porQuilo, aRecuperar }) => (
        <Row
          key={cnpjCpf}
          name={nome}
          value={`${formatMoney(porQuilo)}/kg`}
          detail={aRecuperar > 0 && `${formatMoney(aRecuperar)} cobrados em dobro: peça de volta`}
        />
      ))}
    </Part>
  )
}

function Companies() {
  const now = useNow()
  const { data: companies = [] } = useCompanies()
  if (companies.length < 2) return null
  const told = companies.map((company) => {
    const trouble = capturesOf(company, now).find(isTroubled)
    const reason = trouble?.mensagem.replace(/\. .*/s, '.')
    return { ...company, trouble, reason: reason ?? (certificateState(company, now) && 'Certificado perto do fim.') }
  })
  // All is well: the list of companies says no more.
  if (!told.some(({ reason }) => reason)) return null
  const rank = ({ trouble, reason }: (typeof told)[number]) => (trouble ? 0 : reason ? 1 : 2)
  return (
    <Part title="Empresas" to="/empresas">
      {told
        .sort((a, b) => rank(a) - rank(b))
        .slice(0, companiesMax)
        .map(({ id, razaoSocial, trouble, reason }) => (
          <Row
            key={id}
            name={
              <Link to={`/empresas/editar/${id}`} className="hover:text-brand hover:underline">
                <CompanyName id={id} name={razaoSocial} />
              </Link>
            }
            value={<StateMark state={trouble ? 'stopped' : 'waiting'} className="size-4.5" />}
            detail={reason}
          />
        ))}
    </Part>
  )
}

function Part({ title, to, children }: { title: string; to: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="pb-2 text-lg">
        <Link to={to} className="hover:text-brand hover:underline">
          {title}
        </Link>
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">{children}</ul>
    </section>
  )
}

function Row({ name, value, detail }: { name: ReactNode; value: ReactNode; detail?: ReactNode }) {
  return (
    <li className="py-2">
      <span className="flex items-baseline justify-between gap-3">
        <span className="min-w-0 break-words">{name}</span>
        <span className="shrink-0 font-semibold tabular-nums">{value}</span>
      </span>
      {detail && <span className="block text-muted text-sm">{detail}</span>}
    </li>
  )
}
