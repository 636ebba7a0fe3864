import { useMutation } from '@tanstack/react-query'
import { downloadReformSheet, getReformSheet, type ReformSheet } from '@vigia/contract/reform'
import { formatCount, formatDate, formatInteger, formatMoney, formatMonth } from '@vigia/contract/text'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { familyOf } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import { Download, Percent } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { callBytes } from '../lib/api.ts'
import { companyOptions, useCompanies } from '../lib/companies.ts'
import { notifyError } from '../lib/notify.ts'
import { actionFailure, useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Labelled } from '../ui/form/labelled.tsx'
import { SearchSelect } from '../ui/form/search-select.tsx'
import { Select } from '../ui/form/select.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { saveFile } from '../ui/save-file.ts'
import { type Behind, documentAddress, listAddress, monthsUntil } from './links.ts'

const refreshMs = 60_000

/** IBS, CBS and IS of a month, issuers that omit them, and notes that wait for an answer. */
export function ReformPage() {
  const [params, setParams] = useSearchParams()
  const months = monthsUntil(new Date())
  const month = months.find((one) => one === params.get('mes')) ?? months[0]!
  const before = months[months.indexOf(month) + 1]
  const company = params.get('empresa') ?? ''
  const input = { query: { Mes: month, ...(company && { IdEmpresa: company }) } }
  const sheet = useScreenQuery(getReformSheet, input, { refreshMs, errorToast: true })
  const save = useMutation({
    mutationFn: () => callBytes(downloadReformSheet, input),
    onSuccess: (blob) => saveFile(blob, `ibs-cbs-${month}.xlsx`),
    onError: (error) => notifyError(actionFailure(error)),
  })
  const choose = (name: string, value: string) => {
    const next = new URLSearchParams(params)
    if (value === '') next.delete(name)
    else next.set(name, value)
    setParams(next)
  }
  return (
    <Page
      title="IBS e CBS"
      site={productName}
      subtitle="O que os documentos recebidos no mês dizem de IBS, CBS e IS, e o que falta neles."
      action={
        <Button variant="outline" busy={save.isPending} onClick={() => save.mutate()}>
          <Download aria-hidden className="size-4" />
          Baixar planilha
        </Button>
      }
    >
      <Choices month={month} months={months} company={company} onChoose={choose} />
      <Loaded query={sheet}>
        {(data) => <Sheet sheet={data} company={company} before={before} onMonth={(mes) => choose('mes', mes)} />}
      </Loaded>
    </Page>
  )
}

interface ChoicesProps {
  month: string
  months: readonly string[]
  company: string
  onChoose: (name: string, value: string) => void
}

function Choices({ month, months, company, onChoose }: ChoicesProps) {
  const { data: companies = [] } = useCompanies()
  return (
    <div className="mb-4 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <Labelled id="reform-month" label="Mês de emissão">
        <Select id="reform-month" value={month} onChange={({ target }) => onChoose('mes', target.value)}>
          {months.map((one) => (
            <option key={one} value={one}>
              {formatMonth(one)}
            </option>
          ))}
        </Select>
      </Labelled>
      {companies.length > 1 && (
        <Labelled id="reform-company" label="Empresa">
          <SearchSelect
            id="reform-company"
            all="Todas"
            value={company}
            options={companyOptions(companies)}
            onChange={(value) => onChoose('empresa', value)}
          />
        </Labelled>
      )}
    </div>
  )
}

type Place = Pick<Behind, 'month' | 'company'>

interface SheetProps {
  sheet: ReformSheet
  company: string
  /** The month before, where there is one to look at. */
  before: string | undefined
  onMonth: (month: string) => void
}

function Sheet({ sheet, company, before, onMonth }: SheetProps) {
  const at: Place = { month: sheet.mes, company }
  const nothing = sheet.total.length === 0 && sheet.creditosAoTodo === 0
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      {sheet.aviso && <p className="text-muted">{sheet.aviso}</p>}
      {sheet.faltam > 0 && (
        <Notice
          tone="info"
          title={`Ainda estamos lendo ${formatCount(sheet.faltam, 'documento', 'documentos')} por dentro`}
        >
          Os que faltam ainda não estão nestas contas. Nada precisa ser feito.
        </Notice>
      )}
      {nothing ? (
        <div className="ledger">
          <Empty
            icon={<Percent />}
            title={`Nenhum documento recebido${company ? ' por esta empresa' : ''} em ${formatMonth(sheet.mes)}`}
            action={before && <Button onClick={() => onMonth(before)}>Ver {formatMonth(before)}</Button>}
          >
            Os documentos completos entram aqui depois de lidos por dentro.
          </Empty>
        </div>
      ) : (
        <>
          <Presence sheet={sheet} at={at} />
          <Missing sheet={sheet} at={at} />
          <Findings sheet={sheet} at={at} />
          <Notes
            id="creditos"
            title="Notas de crédito a responder"
            known={sheet.creditosAoTodo}
            notes={sheet.creditos}
            none="Nenhuma nota de crédito de fornecedor espera resposta."
          >
            O fornecedor reduziu o que declarou, e o aceite (evento 211128) ainda não foi registrado. O envio desta
            resposta não está ligado aqui: responda no emissor da sua empresa. Entram as de qualquer mês.
          </Notes>
          <Notes
            id="debitos"
            title="Notas de débito dos fornecedores"
            known={sheet.debitosAoTodo}
            notes={sheet.debitos}
            none="Nenhuma nota de débito no mês."
          >
            Não são compra nem mercadoria: confira o motivo de cada uma.
          </Notes>
          <Suppliers sheet={sheet} at={at} />
          <Codes id="cfops" title="Destacado por CFOP" name="CFOP" rows={sheet.cfops} at={at} part="cfop" />
          <Codes id="ncms" title="Destacado por NCM" name="NCM" rows={sheet.ncms} at={at} part="ncm" />
          <Classifications sheet={sheet} at={at} />
        </>
      )}
      <p className="text-muted text-sm">
        Códigos conferidos com a tabela de {formatDate(sheet.tabela)}. Contam os documentos completos que a sua empresa
        recebeu e os fretes que ela paga; cancelados, denegados, substituídos, desconhecidos e não realizados, não.
      </p>
    </div>
  )
}

interface PartProps {
  id: string
  title: string
  children: ReactNode
}

function Part({ id, title, children }: PartProps) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="mb-1 text-lg">
        {title}
      </h2>
      {children}
    </section>
  )
}

const linkLook = 'whitespace-nowrap text-brand underline underline-offset-3 tabular-nums'

function NumberLink({ behind, children }: { behind: Behind; children: ReactNode }) {
  return (
    <Link to={listAddress(behind)} className={linkLook}>
      {children}
    </Link>
  )
}

const kindWords = (tipoDFe: number, count: number) => formatCount(count, familyOf(tipoDFe).name, familyOf(tipoDFe).name)

const presences = [
  ['com', 'com', 'Com IBS/CBS'],
  ['parcial', 'parcial', 'Em parte dos itens'],
  ['sem', 'sem', 'Sem IBS/CBS, regime normal'],
  ['dispensado', 'dispensado', 'Sem IBS/CBS, Simples ou MEI (dispensado em 2026)'],
] as const

function Presence({ sheet, at }: { sheet: ReformSheet; at: Place }) {
  return (
    <Part id="presenca" title="Quem informou">
      <Table head={['Documentos', 'Quantos', 'Valor']}>
        {presences.flatMap(([field, reform, words]) =>
          sheet[field].map(({ tipoDFe, documentos, valor }) => (
            <tr key={`${field}${tipoDFe}`}>
              <td>{words}</td>
              <td>
                <NumberLink behind={{ ...at, tipoDFe, reform }}>{kindWords(tipoDFe, documentos)}</NumberLink>
              </td>
              <td>{formatMoney(valor)}</td>
            </tr>
          )),
        )}
      </Table>
    </Part>
  )
}

function Missing({ sheet, at }: { sheet: ReformSheet; at: Place }) {
  return (
    <Part id="sem-grupos" title="Fornecedores do regime normal que não destacaram IBS/CBS">
      <p className="mb-2 text-muted">
        As notas continuam válidas. O texto pronto pede ao fornecedor que informe IBS e CBS nas próximas.
      </p>
      {sheet.semGrupos.length === 0 ? (
        <p className="ledger py-3">{sheet.faltam > 0 ? 'Nenhum até agora.' : 'Nenhum nos documentos deste mês.'}</p>
      ) : (
        <Table head={['Fornecedor', 'Documentos', 'Valor', 'Texto']}>
          {sheet.semGrupos.map(({ cnpjCpf, nome, tipoDFe, documentos, valor, texto }) => (
            <tr key={`${cnpjCpf}${tipoDFe}`}>
              <td>
                <SupplierName nome={nome} cnpjCpf={cnpjCpf} />
              </td>
              <td>
                <NumberLink behind={{ ...at, tipoDFe, reform: 'sem', supplier: cnpjCpf }}>
                  {kindWords(tipoDFe, documentos)}
                </NumberLink>
              </td>
              <td>{formatMoney(valor)}</td>
              <td>
                <CopyButton text={texto} label="Copiar texto" labelled />
                <span className="sr-only"> para {nome}</span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <More shown={sheet.semGrupos.length} known={sheet.semGruposAoTodo} />
    </Part>
  )
}

function Findings({ sheet, at }: { sheet: ReformSheet; at: Place }) {
  const { achados, achadosAoTodo } = sheet
  return (
    <Part id="achados" title="Divergências">
      {achados.length === 0 ? (
        <p className="ledger py-3">
          {sheet.faltam > 0 ? 'Nenhuma divergência até agora.' : 'Nenhuma divergência neste mês.'}
        </p>
      ) : (
        <>
          <p className="mb-2">
            {achadosAoTodo.map(({ tipoDFe, documentos }) => (
              <NumberLink key={tipoDFe} behind={{ ...at, tipoDFe, reform: 'achados' }}>
                {kindWords(tipoDFe, documentos)}
              </NumberLink>
            ))}{' '}
            <span className="text-muted">com divergência, as mais novas aqui:</span>
          </p>
          <ul className="ledger [&>li]:border-line [&>li]:border-b">
            {achados.map((one) => (
              <li key={one.idDFe} className="py-2">
                <DocumentLine document={one} />
                <ul className="mt-1 grid gap-0.5 text-sm">
                  {one.achados.map(({ frase }) => (
                    <li key={frase} className="break-words">
                      {frase}
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </>
      )}
    </Part>
  )
}

type SheetDocument = Omit<ReformSheet['creditos'][number], 'dias'>

function DocumentLine({ document }: { document: SheetDocument }) {
  const { tipoDFe, numero, emitente, idEmpresa, empresa, valor, dataEmissao } = document
  return (
    <>
      <Link to={documentAddress(document)} className="font-semibold hover:underline hover:underline-offset-3">
        {familyOf(tipoDFe).name} {formatInteger(numero)} de {emitente}
      </Link>
      <span className="block text-muted text-sm tabular-nums">
        {formatMoney(valor)} · {formatDate(dataEmissao)} · para <CompanyName id={idEmpresa} name={empresa} />
      </span>
    </>
  )
}

interface NotesProps extends PartProps {
  known: number
  notes: ReformSheet['creditos']
  none: string
}

function Notes({ id, title, known, notes, none, children }: NotesProps) {
  return (
    <Part id={id} title={title}>
      {notes.length === 0 ? (
        <p className="ledger py-3">{none}</p>
      ) : (
        <>
          <p className="mb-2 text-muted">{children}</p>
          <ul className="ledger [&>li]:border-line [&>li]:border-b">
            {notes.map((note) => (
              <li key={note.idDFe} className="flex flex-wrap items-start justify-between gap-x-4 py-2">
                <span className="min-w-0">
                  <DocumentLine document={note} />
                </span>
                <span className="text-sm tabular-nums">há {formatCount(note.dias, 'dia', 'dias')}</span>
              </li>
            ))}
          </ul>
          <More shown={notes.length} known={known} />
        </>
      )}
    </Part>
  )
}

function Suppliers({ sheet, at }: { sheet: ReformSheet; at: Place }) {
  const { fornecedores, fornecedoresAoTodo, total } = sheet
  return (
    <Part id="fornecedores" title="Destacado por fornecedor">
      {fornecedores.length === 0 ? (
        <p className="ledger py-3">Nenhum fornecedor destacou IBS, CBS ou IS.</p>
      ) : (
        <Table head={['Fornecedor', 'Documentos', 'Valor', 'IBS', 'CBS', 'IS']}>
          {fornecedores.map((row) => (
            <tr key={`${row.cnpjCpf}${row.tipoDFe}`}>
              <td>
                <SupplierName {...row} />
              </td>
              <td>
                <NumberLink behind={{ ...at, tipoDFe: row.tipoDFe, supplier: row.cnpjCpf }}>
                  {kindWords(row.tipoDFe, row.documentos)}
                </NumberLink>
              </td>
              <Sums {...row} />
            </tr>
          ))}
          {total.map((row) => (
            <tr key={row.tipoDFe} className="font-semibold">
              <td>Todos do mês</td>
              <td>
                <NumberLink behind={{ ...at, tipoDFe: row.tipoDFe }}>
                  {kindWords(row.tipoDFe, row.documentos)}
                </NumberLink>
              </td>
              <Sums {...row} />
            </tr>
          ))}
        </Table>
      )}
      <More shown={fornecedores.length} known={fornecedoresAoTodo} />
    </Part>
  )
}

interface CodesProps {
  id: string
  title: string
  name: string
  rows: ReformSheet['cfops']
  at: Place
  part: 'cfop' | 'ncm'
}

function Codes({ id, title, name, rows, at, part }: CodesProps) {
  if (rows.length === 0) return null
  return (
    <Part id={id} title={title}>
      <Table head={[name, 'NF-e', 'Valor', 'IBS', 'CBS', 'IS']}>
        {rows.map((row) => (
          <tr key={row.codigo}>
            <td className="tabular-nums">{row.codigo}</td>
            <td>
              <NumberLink behind={{ ...at, tipoDFe: nfe.code, [part]: row.codigo }}>
                {formatInteger(row.documentos)}
              </NumberLink>
            </td>
            <Sums {...row} />
          </tr>
        ))}
      </Table>
    </Part>
  )
}

function Classifications({ sheet: { classificacoes }, at }: { sheet: ReformSheet; at: Place }) {
  if (classificacoes.length === 0) return null
  return (
    <Part id="classificacoes" title="Por classificação (cClassTrib)">
      <Table head={['cClassTrib', 'Documentos', 'Valor', 'IBS', 'CBS', 'IS']}>
        {classificacoes.map(({ tipoDFe, codigo, nome, documentos, ...sums }) => (
          <tr key={`${codigo}${tipoDFe}`}>
            <td>
              <span className="block tabular-nums">{codigo}</span>
              <span className="block text-muted text-sm">{nome}</span>
            </td>
            <td>
              <NumberLink behind={{ ...at, tipoDFe, classification: codigo }}>
                {kindWords(tipoDFe, documentos)}
              </NumberLink>
            </td>
            <Sums {...sums} />
          </tr>
        ))}
      </Table>
    </Part>
  )
}

function Sums({ valor, ibs, cbs, is }: { valor: number; ibs: number; cbs: number; is: number }) {
  return (
    <>
      {(['valor', 'ibs', 'cbs', 'is'] as const).map((name) => (
        <td key={name}>{formatMoney({ valor, ibs, cbs, is }[name])}</td>
      ))}
    </>
  )
}

function SupplierName({ nome, cnpjCpf }: { nome: string; cnpjCpf: string }) {
  const id = cnpjCpf.length === 11 ? formatCpf(cnpjCpf) : cnpjCpf.length === 14 ? formatCnpj(cnpjCpf) : 'do exterior'
  return (
    <>
      <span className="block">{nome || id}</span>
      {nome && <span className="block text-muted text-sm tabular-nums">{id}</span>}
    </>
  )
}

function Table({ head, children }: { head: readonly string[]; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it sideways.
    <section tabIndex={0} aria-label={`${head[0]}: tabela`} className="ledger relative overflow-x-auto">
      <table className="w-full tabular-nums [&_td:first-child]:min-w-40 [&_td:first-child]:text-left [&_td]:px-2 [&_td]:py-1.5 [&_td]:text-right [&_th:first-child]:text-left [&_th]:px-2 [&_th]:py-1.5 [&_th]:whitespace-nowrap [&_th]:text-right">
        <thead>
          <tr className="text-muted text-sm [&>th]:font-normal">
            {head.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="[&>tr]:border-line [&>tr]:border-t">{children}</tbody>
      </table>
    </section>
  )
}

function More({ shown, known }: { shown: number; known: number }) {
  if (known <= shown) return null
  return (
    <p className="pt-2 text-muted text-sm">
      Aqui estão {formatInteger(shown)} de {formatInteger(known)}; a planilha traz mais.
    </p>
  )
}
