import { getPrices, type Prices, priceMonths } from '@vigia/contract/reports'
import { formatMoney } from '@vigia/contract/text'
import { Link, useParams, useSearchParams } from 'react-router'
import { useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { buttonClass } from '../ui/button.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { writeMonth } from '../ui/period/days.ts'
import { moveMonth } from '../ui/period/months.ts'
import { PriceLines } from './price-lines.tsx'
import { readQuestion, writeQuestion } from './question.ts'
import { prices, quantities } from './report-table.tsx'

/** Monthly prices of a product, and prices of other suppliers for the same. */
export function PricesPage() {
  const { id = '' } = useParams()
  const [params] = useSearchParams()
  const { company, to } = readQuestion(
    new URLSearchParams({ ...Object.fromEntries(params), de: params.get('ate') ?? '' }),
    new Date(),
  )
  const query = useScreenQuery(getPrices, {
    params: { idProduto: id },
    query: { MesAte: to, ...(company && { IdEmpresa: company }) },
  })
  const back = {
    subject: 'compras',
    group: 'produto',
    from: to,
    to,
    company,
    search: '',
    page: 1,
    taxes: false,
  } as const
  return (
    <Page
      title="Preços de um produto"
      site={productName}
      subtitle={`Preço médio de cada mês, nos ${priceMonths} meses até ${writeMonth(to)}.`}
      action={
        <Link to={`/relatorios?${writeQuestion(back)}`} className={buttonClass({ variant: 'outline' })}>
          Voltar aos produtos
        </Link>
      }
    >
      <Loaded query={query}>
        {({ produto, iguais }) => (
          <>
            <h2 className="text-lg">{produto.nome}</h2>
            <p className="mb-4 text-muted">
              {produto.fornecedor} · código {produto.codigo} · por {produto.unidade}
              {produto.gtin && ` · GTIN ${produto.gtin}`}
            </p>
            <PriceLines all={[produto, ...iguais]} months={monthsUntil(to)} />
            <PriceTable all={[produto, ...iguais]} company={company} />
            {iguais.length === 0 && (
              <p className="mt-3 text-muted">Nenhum outro fornecedor vendeu com o mesmo nome ou o mesmo GTIN.</p>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

const monthsUntil = (to: string) =>
  Array.from({ length: priceMonths }, (_, index) => moveMonth(to, index + 1 - priceMonths))

function PriceTable({ all, company }: { all: readonly Prices[]; company: string }) {
  return (
    <section aria-label="Preços por mês" className="ledger mt-6 overflow-x-auto">
      <table className="w-full text-right tabular-nums [&_td]:h-9 [&_td]:whitespace-nowrap [&_td]:pl-4 [&_th]:h-9 [&_th]:pl-4 [&_th]:font-semibold">
        <caption className="sr-only">Preço médio por fornecedor e mês</caption>
        <thead>
          <tr className="border-line border-b text-muted text-sm">
            <th scope="col" className="pl-0! text-left">
              Fornecedor
            </th>
            <th scope="col" className="text-left">
              Mês
            </th>
            {['Quantidade', 'Valor', 'Preço médio'].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.flatMap((one) =>
            one.meses.toReversed().map(({ mes, quantidade, valor, precoMedio }) => (
              <tr key={`${one.id} ${mes}`} className="border-line border-b">
                <th scope="row" className="max-w-72 truncate pl-0! text-left font-normal!" title={one.nome}>
                  {one.fornecedor}
                </th>
                <td className="text-left">{writeMonth(mes)}</td>
                <td>
                  {quantities.format(quantidade)} {one.unidade}
                </td>
                <td>
                  <Link to={listOf(one.id, mes, company)} className="underline underline-offset-3 hover:text-brand">
                    {formatMoney(valor)}
                  </Link>
                </td>
                <td className="font-semibold">{precoMedio === null ? '—' : prices.format(precoMedio)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </section>
  )
}

function listOf(product: string, month: string, company: string): string {
  const [year, number] = [Number(month.slice(0, 4)), Number(month.slice(5))]
  const last = String(new Date(year, number, 0).getDate()).padStart(2, '0')
  const params = new URLSearchParams({
    contaComo: 'compras',
    linha: `produto:${product}`,
    de: `${month}-01`,
    ate: `${month}-${last}`,
  })
  if (company) params.set('empresa', company)
  return `/notas-fiscais?${params}`
}
