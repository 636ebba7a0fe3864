import { useQueryClient } from '@tanstack/react-query'
import { type CompanyRow, synchronizeCompany } from '@vigia/contract/companies'
import { formatAtMoment, formatCount, formatInteger } from '@vigia/contract/text'
import { RefreshCw, X } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, call } from '../lib/api.ts'
import { useCompanyText } from '../lib/companies.ts'
import { actionMessage } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Progress } from '../ui/progress.tsx'
import { tryLater } from './sync-button.tsx'

interface BulkRun {
  total: number
  done: number
  /** The company that is being requested now; null when the run has ended. */
  name: string | null
  now: number
  /** Queries delayed by the authority's limits, and the time of the first one. */
  later: { count: number; first: string | null }
  refused: { name: string; why: string }[]
  /** Chosen, and left out because they are archived. */
  archived: number
}

/** Requests the synchronization of companies one by one; the server schedules each query. */
export function useBulkSync() {
  const client = useQueryClient()
  const textOf = useCompanyText()
  const [run, setRun] = useState<BulkRun | null>(null)
  const wanted = useRef(false)
  const stop = useCallback(() => {
    wanted.current = false
  }, [])
  useEffect(() => stop, [stop])
  const start = async (chosen: readonly CompanyRow[]) => {
    if (wanted.current) return
    const companies = chosen.filter(({ ativa }) => ativa)
    wanted.current = true
    let state: BulkRun = {
      total: companies.length,
      done: 0,
      name: null,
      now: 0,
      later: { count: 0, first: null },
      refused: [],
      archived: chosen.length - companies.length,
    }
    for (const company of companies) {
      if (!wanted.current) break
      const name = textOf(company.id, company.razaoSocial)
      setRun({ ...state, name })
      const { next, isOver } = await requestSync({ id: company.id, name }, state)
      state = next
      if (isOver) break
    }
    wanted.current = false
    setRun(state)
    void client.invalidateQueries()
  }
  return {
    run,
    start,
    stop,
    forget: () => setRun(null),
  }
}

async function requestSync(
  company: { id: string; name: string },
  state: BulkRun,
): Promise<{ next: BulkRun; isOver: boolean }> {
  const done = state.done + 1
  try {
    const { success, data, message } = await call(synchronizeCompany, { query: { idEmpresa: company.id } })
    if (!success) throw new ApiError(message, 200)
    // Without a time in the response there is nothing to wait for.
    if (data?.proximaConsulta === undefined) return { next: { ...state, done }, isOver: false }
    const at = data.proximaConsulta
    // The clocks of server and browser differ a little.
    if (at && Date.parse(at) < Date.now() + 5_000)
      return { next: { ...state, done, now: state.now + 1 }, isOver: false }
    const first = [state.later.first, at].filter((time) => time !== null).sort()[0] ?? null
    return { next: { ...state, done, later: { count: state.later.count + 1, first } }, isOver: false }
  } catch (error) {
    const refused = [...state.refused, { name: company.name, why: actionMessage(error, tryLater) }]
    // Without a plan, or signed out, the others would be refused the same way.
    const isOver = error instanceof ApiError && (error.status === 402 || error.status === 401)
    return { next: { ...state, done, refused }, isOver }
  }
}

export function BulkSyncButton({ companies, onStart }: { companies: readonly CompanyRow[]; onStart: () => void }) {
  return (
    <Button size="sm" variant="outline" disabled={companies.length === 0} onClick={onStart}>
      <RefreshCw aria-hidden className="size-3.5" />
      Sincronizar selecionadas
    </Button>
  )
}

interface BulkSyncResultProps {
  run: BulkRun
  now: Date
  onStop: () => void
  onClose: () => void
}

export function BulkSyncResult({ run, now, onStop, onClose }: BulkSyncResultProps) {
  if (run.name !== null) {
    return (
      <div className="mb-4 rounded border border-line bg-surface px-4 py-3">
        <div className="flex items-center gap-4">
          <p className="min-w-0 flex-1 break-words">
            Pedindo a sincronização {run.done + 1} de {run.total}: <span className="font-semibold">{run.name}</span>
          </p>
          <Button size="sm" variant="outline" onClick={onStop}>
            Parar
          </Button>
        </div>
        <div className="mt-2">
          <Progress label="Empresas pedidas" percent={Math.floor((run.done / run.total) * 100)} />
        </div>
      </div>
    )
  }
  return (
    <div className="mb-4">
      <Notice
        tone={run.refused.length > 0 ? 'warning' : 'info'}
        title={resultTitle(run)}
        action={
          <Button variant="ghost" size="icon" aria-label="Fechar o resultado" onClick={onClose}>
            <X aria-hidden className="size-4" />
          </Button>
        }
      >
        <p>{resultText(run, now)}</p>
        {run.refused.length > 0 && (
          <ul className="mt-2 grid max-h-60 gap-1 overflow-y-auto">
            {run.refused.map(({ name, why }) => (
              <li key={name}>
                <span className="font-semibold">{name}</span>: {why}
              </li>
            ))}
          </ul>
        )}
      </Notice>
    </div>
  )
}

function resultTitle({ total, done, refused }: BulkRun): string {
  const good = done - refused.length
  if (good === total) return `Sincronização pedida para ${formatCount(total, 'empresa', 'empresas')}`
  return `Sincronização pedida para ${formatInteger(good)} de ${formatCount(total, 'empresa', 'empresas')}`
}

function resultText({ total, done, now: started, later, archived }: BulkRun, now: Date): string {
  const when = later.first ? `, a primeira ${formatAtMoment(later.first, now)}` : ''
  return [
    started > 0 && `${formatCount(started, 'consulta começa', 'consultas começam')} agora.`,
    later.count > 0 && `${formatCount(later.count, 'espera', 'esperam')} a SEFAZ permitir${when}; saem sozinhas.`,
    archived > 0 && `${formatCount(archived, 'empresa arquivada ficou', 'empresas arquivadas ficaram')} de fora.`,
    done < total && `${formatCount(total - done, 'empresa ficou', 'empresas ficaram')} sem pedido.`,
  ]
    .filter(Boolean)
    .join(' ')
}
