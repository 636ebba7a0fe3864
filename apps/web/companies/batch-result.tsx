import { type Batch, type BatchFile, getBatch, listBatches, listCompanies } from '@vigia/contract/companies'
import { formatCount, formatInteger, formatMoment } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { CircleAlert, CircleCheck, CircleMinus, Clock } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link } from 'react-router'
import { loadFailure, queryClient, useScreenQuery } from '../lib/query.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { Notice } from '../ui/notice.tsx'
import { Progress } from '../ui/progress.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { groupProblems } from './batch-files.ts'

const busyMs = 1_500

interface BatchResultProps {
  id: string
  /** Sends the files with a problem again; undefined: this page does not have them. */
  onAgain: ((names: ReadonlySet<string>) => void) | undefined
  /** Back to one certificate. */
  onClose: () => void
}

/** How far a batch of certificates is, and what became of each file. */
export function BatchResult({ id, onAgain, onClose }: BatchResultProps) {
  const { data, error, refetch, isFetching } = useScreenQuery(
    getBatch,
    { params: { id } },
    { refreshMs: (batch) => (batch?.encerrado ? 0 : busyMs) },
  )
  const [onlyProblems, setOnlyProblems] = useState(false)
  const ended = data?.encerrado ?? false
  useEffect(() => {
    if (ended) void queryClient.invalidateQueries({ queryKey: [listCompanies.path] })
  }, [ended])
  if (!data)
    return error ? (
      <Notice
        tone="error"
        title={loadFailure(error)}
        action={
          <Button variant="outline" size="sm" busy={isFetching} onClick={() => void refetch()}>
            Tentar novamente
          </Button>
        }
      >
        O servidor continua sem esta página.
      </Notice>
    ) : (
      <Skeleton className="w-3/5" />
    )
  const { arquivos, comProblema, totalDeArquivos } = data
  const shown = onlyProblems ? arquivos.filter(({ situacao }) => situacao === 'problema') : arquivos
  const problems = new Set(arquivos.flatMap(({ nome, situacao }) => (situacao === 'problema' ? [nome] : [])))
  return (
    <section aria-labelledby="batch" className="grid content-start gap-5">
      <div className="grid gap-2">
        <h2 id="batch" className="text-lg">
          {formatCount(totalDeArquivos, 'certificado', 'certificados')}
        </h2>
        {!ended && (
          <Progress label="Certificados conferidos" percent={Math.floor((doneOf(data) / totalDeArquivos) * 100)} />
        )}
        <p role="status">{ended ? `${summaryOf(data)}.` : progressText(data)}</p>
        {!ended && (
          <p className="text-muted">
            Pode fechar esta página: o servidor continua sozinho, e o sino avisa quando terminar.
          </p>
        )}
        {ended && comProblema > 0 && onAgain === undefined && (
          <p className="text-muted">Para os que têm problema, escolha de novo só esses arquivos em “Enviar outros”.</p>
        )}
      </div>
      {comProblema > 0 && comProblema < arquivos.length && (
        <Checkbox
          label={`Só com problema (${formatInteger(comProblema)})`}
          checked={onlyProblems}
          onChange={(event) => setOnlyProblems(event.target.checked)}
        />
      )}
      <ol className="border-line border-t">
        {groupProblems(shown).map(([file, ...others], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name, and files only come at the end.
          <FileRow key={index} file={file} others={others} />
        ))}
      </ol>
      {ended && (
        <div className="flex flex-wrap gap-2">
          {onAgain && problems.size > 0 && (
            <Button size="lg" onClick={() => onAgain(problems)}>
              Tentar de novo {problems.size === 1 ? 'o que tem problema' : 'os que têm problema'}
            </Button>
          )}
          <Link
            to="/empresas"
            className={buttonClass({ size: 'lg', variant: onAgain && problems.size > 0 ? 'outline' : 'primary' })}
          >
            Ver a lista
          </Link>
          <Button variant="outline" size="lg" onClick={onClose}>
            Enviar outros
          </Button>
        </div>
      )}
    </section>
  )
}

const doneOf = ({ trocados, cadastrados, semMudanca, comProblema }: Batch) =>
  trocados + cadastrados + semMudanca + comProblema

function progressText(batch: Batch): string {
  const { recebidos, totalDeArquivos, comProblema } = batch
  const done = `${formatInteger(doneOf(batch))} de ${formatInteger(totalDeArquivos)} conferidos`
  const missing = recebidos < totalDeArquivos ? `, ${formatInteger(totalDeArquivos - recebidos)} ainda por chegar` : ''
  return `${done}${comProblema > 0 ? `, ${formatInteger(comProblema)} com problema` : ''}${missing}.`
}

function summaryOf({ trocados, cadastrados, semMudanca, comProblema, totalDeArquivos, recebidos }: Batch): string {
  const missing = totalDeArquivos - recebidos
  const parts = [
    trocados > 0 && formatCount(trocados, 'certificado trocado', 'certificados trocados'),
    cadastrados > 0 && formatCount(cadastrados, 'empresa cadastrada', 'empresas cadastradas'),
    semMudanca > 0 && `${formatInteger(semMudanca)} sem mudança`,
    comProblema > 0 && `${formatInteger(comProblema)} com problema`,
    missing > 0 && formatCount(missing, 'arquivo não chegou', 'arquivos não chegaram'),
  ]
  return parts.filter(Boolean).join(', ') || 'Nenhum arquivo chegou'
}

const looks = {
  'na-fila': { Icon: Clock, tone: 'text-muted', words: 'Na fila' },
  trocado: { Icon: CircleCheck, tone: 'text-success', words: 'Trocado' },
  cadastrado: { Icon: CircleCheck, tone: 'text-success', words: 'Cadastrada' },
  'sem-mudanca': { Icon: CircleMinus, tone: 'text-muted', words: 'Sem mudança' },
  problema: { Icon: CircleAlert, tone: 'text-error', words: 'Com problema' },
} as const

function FileRow({ file, others }: { file: BatchFile; others: readonly BatchFile[] }) {
  const { nome, situacao, mensagem, idEmpresa, razaoSocial, cnpj } = file
  const { Icon, tone, words } = looks[situacao]
  return (
    <li className="grid gap-0.5 border-line border-b py-2.5">
      <p className="max-h-40 overflow-y-auto break-words font-semibold">
        {[nome, ...others.map((other) => other.nome)].join(', ')}
      </p>
      {idEmpresa && (
        <p className="break-words text-sm">
          <Link
            to={`/empresas/editar/${idEmpresa}`}
            className="rounded-control text-brand underline underline-offset-3"
          >
            {razaoSocial}
          </Link>{' '}
          {cnpj && <span className="text-muted tabular-nums">{formatCnpj(cnpj)}</span>}
        </p>
      )}
      <p className={`flex items-start gap-1.5 text-sm ${tone}`}>
        <Icon aria-hidden className="mt-0.5 size-3.5 shrink-0" />
        <span className="min-w-0 break-words">{mensagem || words}</span>
      </p>
    </li>
  )
}

/** Batches of the last month, each with a link to its result; nothing when there is none. */
export function RecentBatches() {
  const { data = [] } = useScreenQuery(listBatches, {})
  const now = useNow()
  if (data.length === 0) return null
  return (
    <section aria-labelledby="recent-batches" className="grid gap-1">
      <h2 id="recent-batches" className="text-base">
        Envios de certificados dos últimos 30 dias
      </h2>
      <ul className="grid max-h-64 gap-1 overflow-y-auto">
        {data.map((batch) => (
          <li key={batch.idLote}>
            <Link
              to={`/empresas/nova?lote=${batch.idLote}`}
              className="rounded-control text-brand underline underline-offset-3"
            >
              {formatCount(batch.totalDeArquivos, 'arquivo', 'arquivos')}, {formatMoment(batch.enviadoEm, now)}
            </Link>
            <p className="text-muted text-sm">
              {batch.encerrado ? summaryOf(batch) : `Em andamento: ${progressText(batch)}`} · {batch.enviadoPor}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}
