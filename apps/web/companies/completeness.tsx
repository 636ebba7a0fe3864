import { useMutation } from '@tanstack/react-query'
import { type CompletenessMonth, downloadUnreadable, getCompleteness, type Unreadable } from '@vigia/contract/companies'
import { formatCount, formatInstantDate, formatInteger, formatMonth, formatTime } from '@vigia/contract/text'
import type { FamilyId } from '@vigia/dfe/families/id'
import { familyById } from '@vigia/dfe/families/lookup'
import { ChevronRight, Download } from 'lucide-react'
import { useState } from 'react'
import { callBytes } from '../lib/api.ts'
import { notifyError } from '../lib/notify.ts'
import { actionFailure, useScreenQuery } from '../lib/query.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Notice } from '../ui/notice.tsx'
import { saveFile } from '../ui/save-file.ts'
import { Skeleton } from '../ui/skeleton.tsx'
import { completenessText, missingOf, stateOf } from './completeness-text.ts'

/** From where to where the capture is complete; loaded when it is opened. */
export function Completeness({ companyId, company }: { companyId: string; company: string }) {
  const [open, setOpen] = useState(false)
  return (
    <details className="ledger group" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex cursor-pointer list-none items-start gap-2 rounded-control py-4">
        <ChevronRight
          aria-hidden
          className="mt-1 size-4 shrink-0 text-muted transition-transform duration-150 group-open:rotate-90"
        />
        <span>
          <h2 className="text-lg">Completude</h2>
          <span className="text-muted">
            De onde até onde recebemos tudo o que a SEFAZ tinha, mês a mês, e o que faltou.
          </span>
        </span>
      </summary>
      {open && <Months companyId={companyId} company={company} />}
    </details>
  )
}

function Months({ companyId, company }: { companyId: string; company: string }) {
  const { data, error, isFetching, refetch } = useScreenQuery(getCompleteness, { query: { id: companyId } })
  if (error && !data) {
    return (
      <Notice
        tone="error"
        title="Não foi possível carregar a completude"
        action={
          <Button variant="outline" size="sm" busy={isFetching} onClick={() => void refetch()}>
            Tentar novamente
          </Button>
        }
      >
        {error.message}. A captura não depende disso e continua.
      </Notice>
    )
  }
  if (!data) return <Skeleton className="my-6 w-2/5" />
  if (data.every(({ meses, naoLidos }) => meses.length === 0 && naoLidos.length === 0)) {
    return (
      <p className="pb-4 pl-6 text-muted">
        Ainda não há o que mostrar: a primeira consulta à SEFAZ não foi feita, ou ela ainda não confirmou o certificado.
      </p>
    )
  }
  return (
    <div className="grid gap-6 pb-4">
      <div className="flex flex-wrap items-start justify-between gap-3 pl-6">
        <p className="max-w-[75ch] text-muted">
          A SEFAZ numera em ordem (NSU) tudo o que tem para o CNPJ. Quando um número fica sem resposta aqui, ele é
          buscado sozinho; o que ela já apagou, depois de três meses, só o emitente tem.
        </p>
        <CopyButton labelled text={completenessText(company, data)} label="Copiar como planilha" />
      </div>
      {data.map(({ servico, meses, naoLidos, totalNaoLidos }) => (
        <div key={servico} className="grid gap-3">
          <ServiceMonths name={familyById(servico).name} months={meses} />
          {naoLidos.length > 0 && (
            <UnreadableFiles companyId={companyId} service={servico} files={naoLidos} total={totalNaoLidos} />
          )}
        </div>
      ))}
    </div>
  )
}

interface UnreadableFilesProps {
  companyId: string
  service: FamilyId
  files: readonly Unreadable[]
  total: number
}

function UnreadableFiles({ companyId, service, files, total }: UnreadableFilesProps) {
  const save = useMutation({
    mutationFn: async (nsu: string) => {
      const blob = await callBytes(downloadUnreadable, { query: { id: companyId, servico: service, nsu } })
      // A file that could not be decompressed is saved as it arrived.
      const isText = (await blob.slice(0, 8).text()).trimStart().startsWith('<')
      saveFile(blob, `${familyById(service).name}-NSU${nsu}.${isText ? 'xml' : 'gz'}`)
    },
    onError: (error) => notifyError(actionFailure(error)),
  })
  return (
    <section
      aria-label={`Arquivos de ${familyById(service).name} que não puderam ser lidos`}
      className="ml-6 max-w-3xl"
    >
      <h3 className="font-semibold">
        {formatCount(total, 'arquivo não pôde ser lido', 'arquivos não puderam ser lidos')}
      </h3>
      <p className="text-muted">
        Eles estão guardados como a SEFAZ os entregou. Confira o conteúdo ou peça o documento a quem o emitiu; a chave
        aparece quando está no arquivo.
        {files.length < total && ` Aqui estão os últimos ${formatInteger(files.length)}.`}
      </p>
      <ul className="mt-1">
        {files.map(({ nsu, esquema, recebidoEm, chave, motivo }) => (
          <li key={nsu} className="flex flex-wrap items-center justify-between gap-x-4 border-line border-t py-1.5">
            <span className="min-w-0 break-words">
              <span className="tabular-nums">{`${nsu.startsWith('-') ? 'Sem NSU próprio' : `NSU ${nsu}`} · ${esquema} · ${formatInstantDate(recebidoEm)}`}</span>
              {chave && (
                <span className="block text-sm tabular-nums">{`Chave ${familyById(service).key.format(chave)}`}</span>
              )}
              <span className="block text-muted text-sm">{motivo}</span>
            </span>
            <Button
              variant="ghost"
              size="sm"
              aria-label={`Baixar o arquivo do NSU ${nsu}`}
              busy={save.isPending && save.variables === nsu}
              onClick={() => save.mutate(nsu)}
            >
              <Download aria-hidden className="size-4" />
              Baixar
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function ServiceMonths({ name, months }: { name: string; months: readonly CompletenessMonth[] }) {
  return (
    <table className="ml-6 w-[calc(100%-1.5rem)] max-w-3xl text-left [&_td]:border-line [&_td]:border-t [&_td]:py-1.5 [&_th]:py-1.5 [&_th]:font-semibold [&_th]:text-muted [&_th]:text-sm [&_tr>*:not(:last-child)]:pr-4">
      <caption className="pb-1 text-left font-semibold">{name}</caption>
      <thead>
        <tr>
          <th scope="col">Mês</th>
          <th scope="col" className="text-right">
            Documentos
          </th>
          <th scope="col">Situação</th>
        </tr>
      </thead>
      {months.toReversed().map((month) => (
        <MonthRows key={month.mes} month={month} />
      ))}
    </table>
  )
}

const tones: Record<ReturnType<typeof stateOf>, Tone> = {
  Completo: 'green',
  'Buscando o que falta': 'yellow',
  'Com perdas': 'red',
  'Sem consulta': 'plain',
}

function MonthRows({ month }: { month: CompletenessMonth }) {
  const state = stateOf(month)
  return (
    <tbody className="align-top tabular-nums">
      <tr>
        <td>
          {formatMonth(month.mes)}
          <span className="block text-muted text-sm">
            {month.nsuInicial === null || month.nsuFinal === null
              ? 'Nenhuma posição nova'
              : `NSU ${formatInteger(Number(month.nsuInicial))} a ${formatInteger(Number(month.nsuFinal))}`}
          </span>
        </td>
        <td className="text-right">{formatInteger(month.documentos)}</td>
        <td>
          <Badge tone={tones[state]}>{state}</Badge>
          {month.semDocumento > 0 && (
            <span className="block text-muted text-sm">
              {formatCount(month.semDocumento, 'número vazio', 'números vazios')} na própria SEFAZ
            </span>
          )}
        </td>
      </tr>
      {month.lacunas.map((gap) => (
        <tr key={gap.de}>
          <td colSpan={3} className="border-t-0! pt-0! text-sm">
            {`NSU ${formatInteger(Number(gap.de))} a ${formatInteger(Number(gap.ate))}: ${missingOf(gap)}. `}
            <span className="text-muted">
              {`Percebido em ${formatInstantDate(gap.descobertaEm)} às ${formatTime(gap.descobertaEm)}: ${gap.motivo}.`}
            </span>
          </td>
        </tr>
      ))}
    </tbody>
  )
}
