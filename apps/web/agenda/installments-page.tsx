import { bandNames } from '@vigia/contract/alerts'
import {
  downloadInstallments,
  type Installment,
  installmentGroupings,
  installmentMax,
  listInstallments,
  markPaid,
  selectInstallments,
  sumInstallments,
} from '@vigia/contract/installments'
import type { RouteData } from '@vigia/contract/route'
import { formatCount, formatDate, formatInstantDate, formatMoney, formatMonth } from '@vigia/contract/text'
import { ChevronDown, ChevronRight, Download, WalletCards } from 'lucide-react'
import { useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { documentAddress, supplierAddress } from '../lib/addresses.ts'
import { type CallInput, callBytes, errorMessage } from '../lib/api.ts'
import { companyOptions, useCompanies } from '../lib/companies.ts'
import { notifyError, notifySuccess } from '../lib/notify.ts'
import { read, useAction, useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Changes, SharedNote } from '../ui/changes.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { Empty } from '../ui/empty.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { Labelled } from '../ui/form/labelled.tsx'
import { SearchSelect } from '../ui/form/search-select.tsx'
import { Select } from '../ui/form/select.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice, TextNotice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { Page } from '../ui/page.tsx'
import { DateRangePicker } from '../ui/period/date-range-picker.tsx'
import { parseDay } from '../ui/period/days.ts'
import { saveFile } from '../ui/save-file.ts'
import { CalendarFeed } from './calendar-feed.tsx'

const refreshMs = 60_000

/** Parcels of received notes by due date, with payment marks. */
export function InstallmentsPage() {
  const { filter, grouping, choose } = useFilter()
  const sums = useScreenQuery(sumInstallments, { query: { ...filter, Por: grouping } }, { refreshMs, errorToast: true })
  return (
    <Page
      title="Vencimentos a pagar"
      site={productName}
      subtitle="Parcelas das notas recebidas. Marcar como paga é só um controle seu."
      action={<SheetButton filter={filter} />}
    >
      <CalendarFeed kind="vencimentos" />
      <FilterBar filter={filter} grouping={grouping} onChange={choose} />
      <Loaded query={sums}>
        {(data) => <Groups key={JSON.stringify([filter, grouping])} sums={data} filter={filter} grouping={grouping} />}
      </Loaded>
    </Page>
  )
}

type Filter = NonNullable<CallInput<typeof selectInstallments>['query']>
type Grouping = (typeof installmentGroupings)[number]
type Sums = RouteData<typeof sumInstallments>
type Group = Sums['grupos'][number]

const shownStates = { abertas: 'Em aberto', vencidas: 'Só as vencidas', pagas: 'Marcadas como pagas' } as const
const groupings: Record<Grouping, string> = { semana: 'Semana', mes: 'Mês', fornecedor: 'Fornecedor' }
const parameters = {
  Situacao: 'mostrar',
  Por: 'por',
  IdEmpresa: 'empresa',
  Emitente: 'fornecedor',
  VencimentoDe: 'de',
  VencimentoAte: 'ate',
} as const
type Choices = Partial<Record<keyof typeof parameters, string>>

// Kept in the address, because it must survive a reload and be shareable.
function useFilter() {
  const [params, setParams] = useSearchParams()
  const state = params.get('mostrar')
  const company = params.get('empresa')
  const issuer = /^[0-9A-Z]{8,14}$/.exec(params.get('fornecedor') ?? '')?.[0]
  const [from, to] = [parseDay(params.get('de') ?? ''), parseDay(params.get('ate') ?? '')]
  const filter: Filter = {
    Situacao: state === 'vencidas' || state === 'pagas' ? state : 'abertas',
    ...(company && { IdEmpresa: company }),
    ...(issuer && { Emitente: issuer }),
    ...(from && { VencimentoDe: from }),
    ...(to && { VencimentoAte: to }),
  }
  const choose = (choices: Choices) => {
    const next = new URLSearchParams(params)
    for (const [name, value] of Object.entries(choices)) {
      const parameter = parameters[name as keyof Choices]
      if (value === '') next.delete(parameter)
      else next.set(parameter, value)
    }
    setParams(next)
  }
  return { filter, grouping: installmentGroupings.find((one) => one === params.get('por')) ?? 'semana', choose }
}

interface FilterBarProps {
  filter: Filter
  grouping: Grouping
  onChange: (choices: Choices) => void
}

function FilterBar({ filter, grouping, onChange }: FilterBarProps) {
  const { data: companies = [] } = useCompanies()
  const { Emitente: issuer = '', ...others } = filter
  const { data } = useScreenQuery(sumInstallments, { query: { ...others, Por: 'fornecedor' } })
  const suppliers = (data?.grupos ?? []).map(({ emitente, nome }) => [emitente ?? '', nome ?? emitente ?? ''] as const)
  const known = suppliers.some(([one]) => one === issuer)
  return (
    <div className="mb-2 grid gap-3 sm:grid-cols-2 lg:grid-cols-5">
      <Labelled id="due-state" label="Mostrar">
        <Select id="due-state" value={filter.Situacao} onChange={({ target }) => onChange({ Situacao: target.value })}>
          {Object.entries(shownStates).map(([state, label]) => (
            <option key={state} value={state}>
              {label}
            </option>
          ))}
        </Select>
      </Labelled>
      <Labelled id="due-by" label="Agrupar por">
        <Select id="due-by" value={grouping} onChange={({ target }) => onChange({ Por: target.value })}>
          {Object.entries(groupings).map(([by, label]) => (
            <option key={by} value={by}>
              {label}
            </option>
          ))}
        </Select>
      </Labelled>
      <Labelled id="due-period" label="Vencimento">
        <DateRangePicker
          id="due-period"
          value={
            filter.VencimentoDe && filter.VencimentoAte ? { from: filter.VencimentoDe, to: filter.VencimentoAte } : null
          }
          onChange={(period) => onChange({ VencimentoDe: period?.from ?? '', VencimentoAte: period?.to ?? '' })}
        />
      </Labelled>
      <Labelled id="due-supplier" label="Fornecedor">
        <SearchSelect
          id="due-supplier"
          all="Todos"
          value={issuer}
          options={known || issuer === '' ? suppliers : [[issuer, issuer], ...suppliers]}
          onChange={(Emitente) => onChange({ Emitente })}
        />
      </Labelled>
      {companies.length > 1 && (
        <Labelled id="due-company" label="Empresa">
          <SearchSelect
            id="due-company"
            all="Todas"
            value={filter.IdEmpresa ?? ''}
            options={companyOptions(companies)}
            onChange={(IdEmpresa) => onChange({ IdEmpresa })}
          />
        </Labelled>
      )}
    </div>
  )
}

function SheetButton({ filter }: { filter: Filter }) {
  const [busy, setBusy] = useState(false)
  const take = async () => {
    setBusy(true)
    try {
      saveFile(await callBytes(downloadInstallments, { query: filter }), 'vencimentos.xlsx')
    } catch (cause) {
      notifyError(
        `Não foi possível baixar a planilha (${errorMessage(cause)}). Nada mudou; escolha um período menor ou tente de novo em instantes.`,
      )
    }
    setBusy(false)
  }
  return (
    <Button variant="outline" busy={busy} onClick={() => void take()}>
      <Download aria-hidden className="size-4" />
      Baixar planilha
    </Button>
  )
}

const parcels = (count: number) => formatCount(count, 'parcela', 'parcelas')

interface GroupsProps {
  sums: Sums
  filter: Filter
  grouping: Grouping
}

function Groups({ sums, filter, grouping }: GroupsProps) {
  const { total, vencidas, grupos, totalDeGrupos } = sums
  const marking = useMarking()
  const paid = filter.Situacao === 'pagas'
  // Also where nothing is left of the filter: the largest mistakes are those.
  const undo = marking.undo && (
    <div className="mb-3">
      <Notice
        tone="info"
        title={marking.undo.message}
        action={
          <Button
            variant="outline"
            size="sm"
            busy={marking.busy}
            onClick={() => marking.set(marking.undo!.ids, !marking.undo!.paid)}
          >
            Desfazer
          </Button>
        }
      >
        O nome de quem marcou e a data ficam na auditoria.
      </Notice>
    </div>
  )
  if (grupos.length === 0)
    return (
      <>
        <Limits sums={sums} filter={filter} />
        {undo}
        <Nothing filter={filter} />
      </>
    )
  return (
    <>
      <Limits sums={sums} filter={filter} />
      <p role="status" className="py-2 text-muted text-sm tabular-nums">
        {parcels(total.totalDeItens)}, {formatMoney(total.valorTotal)}
        {vencidas.totalDeItens > 0 &&
          filter.Situacao === 'abertas' &&
          `, das quais ${parcels(vencidas.totalDeItens)} já ${vencidas.totalDeItens === 1 ? 'venceu' : 'venceram'}, ${formatMoney(vencidas.valorTotal)}`}
        .
      </p>
      {undo}
      <SharedNote by={markPaid} />
      <div className="ledger">
        {grupos.map((group, index) => (
          <GroupSection
            key={`${group.situacao} ${group.semVencimento} ${group.de} ${group.emitente}`}
            group={group}
            filter={filter}
            grouping={grouping}
            marking={marking}
            begins={index < (grouping === 'fornecedor' ? 1 : 2)}
          />
        ))}
      </div>
      {totalDeGrupos > grupos.length && (
        <p className="py-3 text-muted text-sm">
          {grouping === 'fornecedor'
            ? `Os ${grupos.length} fornecedores de maior valor, de ${totalDeGrupos.toLocaleString('pt-BR')}.`
            : `Os primeiros ${grupos.length} grupos, de ${totalDeGrupos.toLocaleString('pt-BR')}.`}{' '}
          Escolha um período ou uma empresa para ver outros.
        </p>
      )}
      {marking.chosen.size > 0 && (
        <section
          aria-label="Seleção"
          className="sticky bottom-0 z-10 -mx-2.5 flex flex-wrap items-center gap-2 rounded-t border-line border-t bg-brand-soft px-2.5 py-2"
        >
          <p role="status" className="mr-auto tabular-nums">
            {parcels(marking.chosen.size)} ·{' '}
            {formatMoney([...marking.chosen.values()].reduce((sum, one) => sum + one, 0))}
          </p>
          <Changes by={markPaid}>
            <Button size="sm" busy={marking.busy} onClick={() => marking.set([...marking.chosen.keys()], !paid)}>
              {paid ? 'Reabrir' : 'Marcar como pagas'}
            </Button>
          </Changes>
          <Button variant="ghost" size="sm" onClick={marking.clear}>
            Limpar
          </Button>
        </section>
      )}
    </>
  )
}

// Notices about parcels missing in the sums.
function Limits({ sums: { desde, faltaLer }, filter }: Pick<GroupsProps, 'sums' | 'filter'>) {
  return (
    <>
      {faltaLer > 0 && (
        <TextNotice
          tone="info"
          text={`Ainda estamos lendo ${formatCount(faltaLer, 'documento', 'documentos')} por dentro. As parcelas deles ainda não estão aqui.`}
        />
      )}
      {!filter.VencimentoDe && (
        <p className="pt-2 text-muted text-sm">
          Vencimentos desde {formatDate(desde)}. Para os mais antigos, escolha um período de até {installmentMax.months}{' '}
          meses.
        </p>
      )}
    </>
  )
}

function Nothing({ filter }: { filter: Filter }) {
  const { Situacao: state, ...choices } = filter
  const filtered = Object.keys(choices).length > 0
  return (
    <div className="ledger">
      <Empty
        icon={<WalletCards />}
        title={
          {
            abertas: 'Nenhuma parcela a pagar',
            'a-vencer': 'Nenhuma parcela a vencer',
            vencidas: 'Nenhuma parcela vencida',
            pagas: 'Nenhuma parcela marcada como paga',
          }[state ?? 'abertas'] + (filtered ? ' com estes filtros' : '')
        }
      >
        As parcelas vêm do grupo de cobrança das notas completas. Notas sem esse grupo, resumos e notas canceladas não
        aparecem aqui.
      </Empty>
    </div>
  )
}

interface Marking {
  may: boolean
  busy: boolean
  /** Amounts by parcel. */
  chosen: ReadonlyMap<string, number>
  undo: { ids: string[]; paid: boolean; message: string } | null
  choose: (parcels: readonly Installment[], on: boolean) => void
  clear: () => void
  set: (ids: string[], paid: boolean) => void
}

function useMarking(): Marking {
  const may = useMay('fiscal')
  const [chosen, setChosen] = useState<ReadonlyMap<string, number>>(new Map())
  const [undo, setUndo] = useState<Marking['undo']>(null)
  const [paid, setPaid] = useState(true)
  const action = useAction(markPaid, {
    onSuccess: ({ data, message }) => {
      setChosen(new Map())
      setUndo(data && data.idsParcelas.length > 0 && undo === null ? { ids: data.idsParcelas, paid, message } : null)
      notifySuccess(message)
    },
  })
  return {
    may,
    busy: action.isPending,
    chosen,
    undo,
    choose: (parcels, on) => {
      const next = new Map(chosen)
      for (const { idParcela, valor } of parcels)
        if (on && next.size < installmentMax.marked) next.set(idParcela, valor)
        else if (!on) next.delete(idParcela)
      setChosen(next)
    },
    clear: () => setChosen(new Map()),
    set: (idsParcelas, paga) => {
      setPaid(paga)
      // Undoing a mark offers no further undo.
      if (undo && undo.ids !== idsParcelas) setUndo(null)
      action.mutate({ body: { idsParcelas, paga } })
    },
  }
}

interface GroupSectionProps {
  group: Group
  filter: Filter
  grouping: Grouping
  marking: Marking
  /** Its parcels are shown at first. */
  begins: boolean
}

function GroupSection({ group, filter, grouping, marking, begins }: GroupSectionProps) {
  const [open, setOpen] = useState(begins)
  const name = nameOf(group, grouping)
  const of: Filter = {
    ...filter,
    Situacao: group.situacao,
    ...(group.de && { VencimentoDe: group.de }),
    ...(group.ate && { VencimentoAte: group.ate }),
    ...(group.semVencimento && { SemVencimento: true }),
    ...(group.emitente && { Emitente: group.emitente }),
  }
  const Icon = open ? ChevronDown : ChevronRight
  const late = grouping === 'fornecedor' && filter.Situacao === 'abertas' && group.vencidas.totalDeItens > 0
  return (
    <section aria-label={name} className="border-line border-b">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
        <h2 className="min-w-0 flex-1 basis-56 text-lg">
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="flex min-h-9 w-full cursor-pointer items-center gap-2 text-left pointer-coarse:min-h-11"
          >
            <Icon aria-hidden className="size-4 shrink-0 text-muted" />
            <span className="min-w-0 break-words">{name}</span>
            {group.situacao === 'vencidas' && <Badge tone="red">Vencidas</Badge>}
          </button>
        </h2>
        <p className="text-right tabular-nums">
          <span className="font-semibold">{formatMoney(group.valorTotal)}</span>{' '}
          <span className="text-muted text-sm">
            {parcels(group.totalDeItens)}
            {late && `, ${formatMoney(group.vencidas.valorTotal)} já vencido`}
          </span>
        </p>
        {marking.may && filter.Situacao !== 'pagas' && (
          <MarkGroup group={group} name={name} filter={of} marking={marking} />
        )}
        {group.emitente && (
          <Link to={supplierAddress(group.emitente)} className="text-brand text-sm underline underline-offset-3">
            Fornecedor
          </Link>
        )}
      </div>
      {open && <Parcels name={name} filter={of} marking={marking} />}
    </section>
  )
}

function nameOf({ situacao, de, ate, semVencimento, nome, emitente }: Group, grouping: Grouping): string {
  if (grouping === 'fornecedor') return nome ?? emitente ?? 'Sem emitente'
  if (situacao === 'vencidas') return 'Já venceram'
  if (semVencimento) return 'Sem vencimento'
  if (grouping === 'mes' && de) {
    const month = formatMonth(de.slice(0, 7))
    return month[0]!.toUpperCase() + month.slice(1)
  }
  return `De ${formatInstantDate(de ?? '')} a ${formatInstantDate(ate ?? '')}`
}

// Marks all parcels of a group at once, including those not on the screen.
function MarkGroup({ group, name, filter, marking }: { group: Group; name: string; filter: Filter; marking: Marking }) {
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    try {
      const { idsParcelas } = await read(selectInstallments, { query: filter })
      if (idsParcelas.length > 0) marking.set(idsParcelas, true)
    } catch (cause) {
      notifyError(
        `Não foi possível marcar as parcelas (${errorMessage(cause)}). Nada mudou; tente de novo em instantes.`,
      )
    }
    setBusy(false)
    setAsking(false)
  }
  const count = Math.min(group.totalDeItens, installmentMax.marked)
  return (
    <>
      <Changes by={markPaid} noted={false}>
        <Button
          variant="ghost"
          size="sm"
          aria-label={`Marcar todas como pagas: ${name}`}
          onClick={() => setAsking(true)}
        >
          Marcar todas
        </Button>
      </Changes>
      <ConfirmDialog
        open={asking}
        title={`Marcar ${parcels(count)} como ${count === 1 ? 'paga' : 'pagas'}?`}
        confirm="Marcar como pagas"
        busy={busy}
        onConfirm={() => void confirm()}
        onCancel={() => setAsking(false)}
      >
        <p>
          {name}: {formatMoney(group.valorTotal)}
          {group.totalDeItens > count && ' ao todo; as que faltam ficam para a próxima vez'}. Seu nome e a data ficam em
          cada parcela. Nada é pago, e a marca pode ser tirada depois.
        </p>
      </ConfirmDialog>
    </>
  )
}

interface ParcelsProps {
  name: string
  filter: Filter
  marking: Marking
}

function Parcels({ name, filter, marking }: ParcelsProps) {
  const [parts, setParts] = useState(1)
  return (
    <ParcelChunk
      name={name}
      filter={filter}
      marking={marking}
      cursor=""
      parts={parts}
      onMore={() => setParts(parts + 1)}
    />
  )
}

// Each page starts after the last row of the previous one, whatever was added or removed since.
function ParcelChunk({
  cursor,
  parts,
  onMore,
  ...rest
}: ParcelsProps & { cursor: string; parts: number; onMore: () => void }) {
  const { name, filter, marking } = rest
  const query = useScreenQuery(
    listInstallments,
    { query: { ...filter, ...(cursor && { depoisDe: cursor }) } },
    { refreshMs },
  )
  return (
    <Loaded query={query}>
      {({ items, proximo }) => (
        <>
          {marking.may && cursor === '' && items.length > 1 && (
            <Checkbox
              label={`Selecionar as ${items.length} exibidas`}
              className="text-muted text-sm"
              checked={items.every(({ idParcela }) => marking.chosen.has(idParcela))}
              partly={
                items.some(({ idParcela }) => marking.chosen.has(idParcela)) &&
                !items.every(({ idParcela }) => marking.chosen.has(idParcela))
              }
              onChange={({ target }) => marking.choose(items, target.checked)}
              aria-label={`Selecionar ${parcels(items.length)}: ${name}`}
            />
          )}
          <ul className="pb-2 [&>li]:border-line [&>li]:border-t">
            {items.map((one) => (
              <Parcel key={one.idParcela} parcel={one} marking={marking} />
            ))}
          </ul>
          {proximo !== null && parts > 1 && (
            <ParcelChunk {...rest} cursor={proximo} parts={parts - 1} onMore={onMore} />
          )}
          {proximo !== null && parts === 1 && (
            <div className="pb-3">
              <Button variant="outline" size="sm" onClick={onMore}>
                Mostrar mais
              </Button>
            </div>
          )}
        </>
      )}
    </Loaded>
  )
}

const someone = 'alguém que não tem mais conta'

function Parcel({ parcel, marking }: { parcel: Installment; marking: Marking }) {
  const { idParcela, idDFe, chave, numero, emitente, cnpjCpfEmitente, idEmpresa, empresa, vencimento, valor, vencida } =
    parcel
  const mark = parcel.marcadaComoPaga
  const grave = !mark && (parcel.alerta === 'critico' || parcel.alerta === 'alto')
  const name = `parcela ${parcel.parcela} da nota ${numero.toLocaleString('pt-BR')} de ${emitente}`
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
      {marking.may && (
        <Checkbox
          bare
          label={`Selecionar a ${name}`}
          checked={marking.chosen.has(idParcela)}
          onChange={({ target }) => marking.choose([parcel], target.checked)}
        />
      )}
      <span className="w-22 shrink-0 tabular-nums">
        {vencimento === null ? 'sem vencimento' : formatInstantDate(vencimento)}
      </span>
      <span className="min-w-0 flex-1 basis-56 break-words">
        <Link to={supplierAddress(cnpjCpfEmitente)} className="hover:underline hover:underline-offset-3">
          {emitente}
        </Link>
        <span className="block text-muted text-sm tabular-nums">
          <Link to={documentAddress({ chave, idDFe })} className="text-brand underline underline-offset-3">
            NF-e {numero.toLocaleString('pt-BR')}
          </Link>
          {parcel.parcela && `, parcela ${parcel.parcela}`} · <CompanyName id={idEmpresa} name={empresa} />
        </span>
        {mark && (
          <span className="block text-muted text-sm">
            Marcada como paga por {mark.quem ?? someone}, em {formatInstantDate(mark.quando)}.
          </span>
        )}
      </span>
      {grave && (
        <Link to={`/alertas?documento=${idDFe}`} className="text-error underline underline-offset-3">
          Alerta {bandNames[parcel.alerta!]}: confira antes de pagar
        </Link>
      )}
      {vencida && <Badge tone="red">Vencida</Badge>}
      <span className="ml-auto font-semibold tabular-nums">{formatMoney(valor)}</span>
      {marking.may && (
        <Changes by={markPaid} noted={false}>
          <Button
            variant="outline"
            size="sm"
            aria-label={`${mark ? 'Reabrir' : 'Marcar como paga'}: ${name}`}
            busy={marking.busy}
            onClick={() => marking.set([idParcela], mark === null)}
          >
            {mark ? 'Reabrir' : 'Marcar como paga'}
          </Button>
        </Changes>
      )}
    </li>
  )
}
