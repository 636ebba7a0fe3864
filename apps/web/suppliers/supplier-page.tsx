import { listPath } from '@vigia/contract/codes'
import { getSupplier, type Supplier, supplierMax } from '@vigia/contract/suppliers'
import {
  formatCount,
  formatDate,
  formatInstantDate,
  formatInteger,
  formatMoney,
  formatMonth,
} from '@vigia/contract/text'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { cte } from '@vigia/dfe/families/cte'
import { familyOf } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import type { ReactNode } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import { documentAddress } from '../lib/addresses.ts'
import { companyOptions, useCompanies } from '../lib/companies.ts'
import { subjectPath } from '../lib/kinds.ts'
import { useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { buttonClass } from '../ui/button.tsx'
import { Labelled } from '../ui/form/labelled.tsx'
import { SearchSelect } from '../ui/form/search-select.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { TextNotice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { monthPeriod } from '../ui/period/days.ts'
import { SupplierProducts } from './supplier-products.tsx'

const refreshMs = 60_000

/** Everything about an issuer, with all CNPJs of its root. */
export function SupplierPage() {
  const { raiz = '' } = useParams()
  const [params, setParams] = useSearchParams()
  const { data: companies = [] } = useCompanies()
  const company = params.get('empresa') ?? ''
  const query = useScreenQuery(
    getSupplier,
    { params: { raiz }, query: { ...(company && { IdEmpresa: company }) } },
    { refreshMs },
  )
  // While another one is on its way, the one before is not shown under its number.
  const supplier = query.data?.raiz === raiz ? query.data : undefined
  return (
    <Page
      title={supplier?.nome ?? 'Fornecedor'}
      site={productName}
      subtitle={`${raiz.length === 11 ? `CPF ${formatCpf(raiz)}` : `Raiz do CNPJ ${formatRoot(raiz)}, todas as filiais`}`}
      action={
        <Link to={listAddress(nfe.code, raiz, company)} className={buttonClass({ variant: 'outline' })}>
          Ver todas as notas
        </Link>
      }
    >
      {companies.length > 1 && (
        <Labelled id="supplier-company" label="Empresa" className="mb-4 max-w-sm">
          <SearchSelect
            id="supplier-company"
            all="Todas"
            value={company}
            options={companyOptions(companies)}
            onChange={(value) => setParams(value === '' ? {} : { empresa: value })}
          />
        </Labelled>
      )}
      <Loaded query={{ ...query, data: supplier } as typeof query}>
        {(data) => <Everything key={raiz} supplier={data} company={company} />}
      </Loaded>
    </Page>
  )
}

const formatRoot = (root: string) => root.replace(/^(.{2})(.{3})(.{3})$/, '$1.$2.$3')
const documents = (count: number) => formatCount(count, 'documento', 'documentos')

function listAddress(
  tipoDFe: number,
  root: string,
  company: string,
  more: Record<string, string> = { periodo: 'todos' },
): string {
  return `${listPath(tipoDFe)}?${new URLSearchParams({ busca: root, ...(company && { empresa: company }), ...more })}`
}

interface PartProps {
  supplier: Supplier
  company: string
}

function Everything({ supplier, company }: PartProps) {
  return (
    <div className="grid gap-8">
      {supplier.faltaLer > 0 && (
        <TextNotice
          tone="info"
          text={`Ainda estamos lendo ${documents(supplier.faltaLer)} por dentro. Valores, produtos e parcelas desta página ainda vão mudar.`}
        />
      )}
      <Summary supplier={supplier} company={company} />
      <div className="grid gap-8 lg:grid-cols-2">
        <Months supplier={supplier} company={company} />
        <div className="grid content-start gap-8">
          <Situations supplier={supplier} company={company} />
          <Alerts supplier={supplier} />
          <Reform supplier={supplier} />
        </div>
      </div>
      <SupplierProducts root={supplier.raiz} company={company} />
      <Names supplier={supplier} />
    </div>
  )
}

function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="text-lg">{title}</h2>
      {note && <p className="text-muted text-sm">{note}</p>}
      <div className="ledger mt-2">{children}</div>
    </section>
  )
}

function Line({ label, children }: { label: ReactNode; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-baseline justify-between gap-x-4 border-line border-b py-2">
      <dt className="min-w-0 text-muted">{label}</dt>
      <dd className="text-right tabular-nums">{children}</dd>
    </div>
  )
}

const linkClass = 'text-brand underline underline-offset-3'
const percent = new Intl.NumberFormat('pt-BR', { style: 'percent', maximumFractionDigits: 1 })

function Summary({ supplier, company }: PartProps) {
  const { dozeMeses, primeiro, ultimo, vencimentos, raiz } = supplier
  const dueAddress = `/vencimentos?${new URLSearchParams({ fornecedor: raiz, ...(company && { empresa: company }) })}`
  return (
    <Part title="Em resumo">
      <dl className="grid gap-x-8 lg:grid-cols-2">
        <Line label="Nos últimos doze meses">
          <span className="font-semibold">{formatMoney(dozeMeses.valorTotal)}</span>
        </Line>
        <Line label="Parte das compras nesses meses">
          {dozeMeses.participacao === null ? 'nenhuma compra lida' : percent.format(dozeMeses.participacao)}
        </Line>
        <Line label="Primeiro documento aqui">
          <Link to={documentAddress(primeiro)} className={linkClass}>
            {formatDate(primeiro.emissao)}
          </Link>
        </Line>
        <Line label="Último documento">
          <Link to={documentAddress(ultimo)} className={linkClass}>
            {formatDate(ultimo.emissao)}
          </Link>
        </Line>
        <Line label="Parcelas em aberto">
          <Link to={dueAddress} className={linkClass}>
            {formatCount(vencimentos.abertas.totalDeItens, 'parcela', 'parcelas')},{' '}
            {formatMoney(vencimentos.abertas.valorTotal)}
          </Link>
        </Line>
        <Line label="Vencidas">
          {vencimentos.vencidas.totalDeItens === 0 ? (
            'nenhuma'
          ) : (
            <>
              {formatInteger(vencimentos.vencidas.totalDeItens)}, {formatMoney(vencimentos.vencidas.valorTotal)}
            </>
          )}
          {vencimentos.proximo && ` · próxima em ${formatInstantDate(vencimentos.proximo)}`}
        </Line>
      </dl>
    </Part>
  )
}

// Chart and table in one, with a bar beside each number: readable without colour and mouse.
function Months({ supplier: { meses, raiz }, company }: PartProps) {
  const most = Math.max(1, ...meses.map(({ notas, fretes }) => notas.valorTotal + fretes.valorTotal))
  const freights = meses.some(({ fretes }) => fretes.totalDeItens > 0)
  const monthAddress = (subject: 'compras' | 'fretes', month: string) => {
    const { from, to } = monthPeriod(new Date(Number(month.slice(0, 4)), Number(month.slice(5)) - 1, 1))
    const params = new URLSearchParams({ contaComo: subject, linha: `participante:${raiz}`, de: from, ate: to })
    if (company) params.set('empresa', company)
    return `${subjectPath(subject)}?${params}`
  }
  return (
    <Part
      title="Por mês"
      note="Os últimos 24 meses, pela emissão: notas recebidas e fretes pagos, sem os cancelados, dos documentos completos."
    >
      {meses.length === 0 ? (
        <p className="py-4 text-muted">Nenhum documento completo nestes meses.</p>
      ) : (
        <table className="w-full text-left">
          <caption className="sr-only">Valor e documentos por mês</caption>
          <thead>
            <tr className="border-line border-b text-muted text-sm [&>th]:h-9 [&>th]:font-semibold">
              <th scope="col">Mês</th>
              <th scope="col" className="text-right">
                Notas
              </th>
              {freights && (
                <th scope="col" className="text-right">
                  Fretes
                </th>
              )}
            </tr>
          </thead>
          <tbody className="[&>tr>*]:py-1.5 [&>tr>*]:align-top [&>tr]:border-line [&>tr]:border-b">
            {meses.toReversed().map(({ mes, notas, fretes }) => (
              <tr key={mes}>
                <th scope="row" className="pr-3 font-normal">
                  {formatMonth(mes)}
                  <span
                    aria-hidden
                    className="mt-1 block h-1.5 min-w-px bg-brand"
                    style={{ width: `${((notas.valorTotal + fretes.valorTotal) / most) * 100}%` }}
                  />
                </th>
                <Amount sum={notas} to={monthAddress('compras', mes)} one="nota" />
                {freights && <Amount sum={fretes} to={monthAddress('fretes', mes)} one="CT-e" />}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Part>
  )
}

type Sum = Supplier['meses'][number]['notas']

function Amount({ sum, to, one }: { sum: Sum; to: string; one: 'nota' | 'CT-e' }) {
  return (
    <td className="whitespace-nowrap pl-3 text-right tabular-nums">
      {sum.totalDeItens > 0 && (
        <>
          {formatMoney(sum.valorTotal)}
          <Link to={to} className={`block text-sm ${linkClass}`}>
            {formatCount(sum.totalDeItens, one, one === 'nota' ? 'notas' : 'CT-e')}
          </Link>
        </>
      )}
    </td>
  )
}

function Situations({ supplier: { situacoes, recentes, raiz }, company }: PartProps) {
  const today = new Date()
  const lately = { de: monthPeriod(today, 1 - supplierMax.months).from, ate: monthPeriod(today).to }
  return (
    <Part
      title="Situações e respostas"
      note={`Situações dos documentos dos últimos ${supplierMax.months} meses; eventos dos últimos ${formatInteger(recentes.totalDeItens)}.`}
    >
      <dl>
        {situacoes.map(({ tipoDFe, status, nome, totalDeItens }) => (
          <Line key={`${tipoDFe} ${status}`} label={`${familyOf(tipoDFe).name}: ${nome}`}>
            <Link to={listAddress(tipoDFe, raiz, company, { status: String(status), ...lately })} className={linkClass}>
              {documents(totalDeItens)}
            </Link>
          </Line>
        ))}
        {situacoes.some(({ tipoDFe }) => tipoDFe === cte.code) && (
          <Line label="CT-e: o que não fecha">
            <Link
              to={`/fretes?${new URLSearchParams({ busca: raiz, ...(company && { empresa: company }) })}`}
              className={linkClass}
            >
              Auditoria de fretes
            </Link>
          </Line>
        )}
        {recentes.eventos.map(({ tpEvento, nome, totalDeItens }) => (
          <Line key={tpEvento} label={`Evento: ${nome}`}>
            em {documents(totalDeItens)}
          </Line>
        ))}
      </dl>
    </Part>
  )
}

const bands: Record<Supplier['alertas']['ultimos'][number]['faixa'], { label: string; tone: Tone }> = {
  critico: { label: 'Crítico', tone: 'red' },
  alto: { label: 'Alto', tone: 'yellow' },
  medio: { label: 'Médio', tone: 'plain' },
  informativo: { label: 'Informativo', tone: 'plain' },
}

function Alerts({ supplier: { alertas } }: { supplier: Supplier }) {
  const { critico, alto, medio, informativo } = alertas.abertos
  const open = critico + alto + medio + informativo
  return (
    <Part title="Alertas em aberto">
      {open === 0 ? (
        <p className="py-2 text-muted">Nenhum.</p>
      ) : (
        <>
          <p className="border-line border-b py-2 tabular-nums">
            {formatCount(open, 'alerta', 'alertas')}: {formatCount(critico, 'crítico', 'críticos')},{' '}
            {formatCount(alto, 'alto', 'altos')}, {formatCount(medio, 'médio', 'médios')},{' '}
            {formatCount(informativo, 'informativo', 'informativos')}.
          </p>
          <ul className="[&>li]:border-line [&>li]:border-b">
            {alertas.ultimos.map(({ idDFe, tipoDFe, numero, faixa, regras }) => (
              <li key={idDFe} className="flex flex-wrap items-center gap-x-3 py-2">
                <Badge tone={bands[faixa].tone}>{bands[faixa].label}</Badge>
                <Link to={`/alertas?${new URLSearchParams({ documento: idDFe })}`} className={linkClass}>
                  {familyOf(tipoDFe).name} {formatInteger(numero)}
                </Link>
                <span className="min-w-0 flex-1 basis-48 break-words text-muted text-sm">{regras.join(', ')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Part>
  )
}

function Reform({ supplier: { recentes, dozeMeses } }: { supplier: Supplier }) {
  const { dispensados, sem, parciais, completos, comAchados } = recentes.reforma
  const read = dispensados + sem + parciais + completos
  return (
    <Part title="IBS e CBS" note="2026 é ano-teste: os valores são informativos, não geram débito nem crédito.">
      <dl>
        <Line label="Documentos lidos, dos últimos">
          {formatInteger(read)} de {formatInteger(recentes.totalDeItens)}
        </Line>
        <Line label="Com os grupos em todos os itens">{formatInteger(completos)}</Line>
        <Line label="Só em alguns itens">{formatInteger(parciais)}</Line>
        <Line label="Sem os grupos">{formatInteger(sem)}</Line>
        <Line label="Sem os grupos, e dispensados deles">{formatInteger(dispensados)}</Line>
        <Line label="Com divergência">{formatInteger(comAchados)}</Line>
        <Line label="Destacado em doze meses">
          IBS {formatMoney(dozeMeses.valorIbs)} · CBS {formatMoney(dozeMeses.valorCbs)}
        </Line>
      </dl>
    </Part>
  )
}

function Names({ supplier: { estabelecimentos, totalDeEstabelecimentos } }: { supplier: Supplier }) {
  const more = totalDeEstabelecimentos - estabelecimentos.length
  return (
    <Part title="Nomes e estabelecimentos" note="Como os documentos os chamam.">
      <ul className="[&>li]:border-line [&>li]:border-b">
        {estabelecimentos.map(({ cnpjCpf, nomes, uf, ultimaEmissao }) => (
          <li key={cnpjCpf} className="flex flex-wrap items-baseline gap-x-4 py-2">
            <span className="tabular-nums">{cnpjCpf.length === 11 ? formatCpf(cnpjCpf) : formatCnpj(cnpjCpf)}</span>
            <span className="min-w-0 flex-1 basis-64 break-words">{nomes.join(' · ')}</span>
            <span className="text-muted text-sm tabular-nums">
              {uf && `${uf} · `}último documento em {formatDate(ultimaEmissao)}
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <p className="py-2 text-muted text-sm">
          E mais {formatCount(more, 'estabelecimento', 'estabelecimentos')} sem documentos tão novos.
        </p>
      )}
    </Part>
  )
}
