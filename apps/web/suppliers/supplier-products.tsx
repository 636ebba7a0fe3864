import { listSupplierProducts } from '@vigia/contract/suppliers'
import { formatCount, formatMoney, formatMonth } from '@vigia/contract/text'
import { PackageSearch } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useScreenQuery } from '../lib/query.ts'
import { Empty } from '../ui/empty.tsx'
import { Input } from '../ui/form/input.tsx'
import { Labelled } from '../ui/form/labelled.tsx'
import { useDebounced } from '../ui/hooks/debounce.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Pagination } from '../ui/pagination.tsx'

interface SupplierProductsProps {
  root: string
  company: string
}

/** Products of an issuer, with the prices of recent months. */
export function SupplierProducts({ root, company }: SupplierProductsProps) {
  const [text, setText] = useState('')
  const [page, setPage] = useState(1)
  const typed = useDebounced(text.trim(), 300)
  const query = useScreenQuery(listSupplierProducts, {
    params: { raiz: root },
    query: { PaginaAtual: page, ...(company && { IdEmpresa: company }), ...(typed && { CampoPesquisa: typed }) },
  })
  return (
    <section aria-label="Produtos">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div>
          <h2 className="text-lg">Produtos</h2>
          <p className="text-muted text-sm">
            Preço médio de cada mês, sem frete nem impostos: o último, o menor e o maior dos últimos 24 meses.
          </p>
        </div>
        <Labelled id="supplier-products" label="Buscar nos produtos" className="w-full sm:w-72">
          <Input
            id="supplier-products"
            value={text}
            maxLength={100}
            placeholder="Nome, código, NCM ou GTIN"
            onChange={({ target }) => {
              setText(target.value)
              setPage(1)
            }}
          />
        </Labelled>
      </div>
      <div className="ledger mt-2">
        <Loaded query={query}>
          {({ items, totalDeItens, totalDePaginas, incompleto }) =>
            items.length === 0 ? (
              <Empty
                icon={<PackageSearch />}
                title={`Nenhum produto ${typed ? 'com isso' : 'lido'}${company ? ' nas notas desta empresa' : ''}`}
              >
                {typed
                  ? 'Procure por uma parte do nome, do código, do NCM ou do GTIN.'
                  : 'Os produtos vêm das notas completas recebidas nos últimos 24 meses.'}
              </Empty>
            ) : (
              <>
                <p role="status" className="pt-2 text-muted text-sm tabular-nums">
                  {formatCount(totalDeItens, 'produto', 'produtos')}, os de maior valor antes
                  {incompleto && '. São tantos que só os mais novos foram olhados: os outros, busque pelo nome'}
                </p>
                <ul className="[&>li]:border-line [&>li]:border-b">
                  {items.map((one) => (
                    <li key={one.idProduto} className="flex flex-wrap items-baseline gap-x-6 gap-y-1 py-2">
                      <span className="min-w-0 flex-1 basis-72 break-words">
                        {one.nome}
                        <span className="block text-muted text-sm tabular-nums">
                          Código {one.codigo} · NCM {one.ncm} ·{' '}
                          <Link
                            to={`/notas-fiscais?${new URLSearchParams({ produto: String(one.idProduto), periodo: 'todos', ...(company && { empresa: company }) })}`}
                            className="text-brand underline underline-offset-3"
                          >
                            {formatCount(one.totalDeDocumentos, 'nota', 'notas')}
                          </Link>
                        </span>
                      </span>
                      <span className="text-sm tabular-nums">
                        <span className="text-muted">{formatMonth(one.ultimoMes)}:</span> {price(one.ultimoPreco)}{' '}
                        {one.unidade && <span className="text-muted">por {one.unidade}</span>}
                        <span className="block text-muted">
                          de {price(one.menorPreco)} a {price(one.maiorPreco)}
                        </span>
                      </span>
                      <span className="ml-auto text-right tabular-nums">
                        <span className="font-semibold">{formatMoney(one.valorTotal)}</span>
                        <span className="block text-muted text-sm">
                          {quantity.format(Number(one.quantidade))} {one.unidade}
                        </span>
                      </span>
                    </li>
                  ))}
                </ul>
                <Pagination page={page} pageCount={totalDePaginas} onPage={setPage} />
              </>
            )
          }
        </Loaded>
      </div>
    </section>
  )
}

const quantity = new Intl.NumberFormat('pt-BR', { maximumFractionDigits: 4 })
const unitPrice = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL', maximumFractionDigits: 4 })
const price = (value: number | null) => (value === null ? 'sem quantidade' : unitPrice.format(value))
