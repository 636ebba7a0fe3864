import { useMutation } from '@tanstack/react-query'
import { formatCount, formatInstantDate, formatTime } from '@vigia/contract/text'
import { type AuditRow, checkAuditChain, exportAudit } from '@vigia/contract/workspace'
import { Download, Link2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { call, errorMessage } from '../lib/api.ts'
import { notifyInfo } from '../lib/notify.ts'
import { dataOf, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { startDownload } from '../ui/save-file.ts'

/** What the parts that were checked so far show together. */
interface Checked {
  entries: number
  unchained: number
  broken: AuditRow[]
  until: string | null
  digest: string | null
  /** Where the next part begins; null: all is checked. */
  next: string | null
}

const nothing: Checked = { entries: 0, unchained: 0, broken: [], until: null, digest: null, next: null }

/** The check of the chain, part by part, as far as it has come. */
export function useChainCheck() {
  const [checked, setChecked] = useState<Checked | null>(null)
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    leaving.current = controller
    return () => controller.abort()
  }, [])
  const check = useMutation({
    mutationFn: async () => {
      // After a failure it goes on where it was.
      let sum = checked?.next ? checked : nothing
      setChecked(sum)
      do {
        const query = sum.next === null ? {} : { depoisDe: sum.next }
        const part = dataOf(await call(checkAuditChain, { query }, { signal: leaving.current.signal }))
        sum = {
          entries: sum.entries + part.registros,
          unchained: sum.unchained + part.semResumo,
          broken: [...sum.broken, ...part.quebrados],
          until: part.ate ?? sum.until,
          digest: part.ultimoResumo,
          next: part.proximo,
        }
        setChecked(sum)
      } while (sum.next !== null)
    },
  })
  return { checked, check }
}

type ChainCheck = ReturnType<typeof useChainCheck>

/** The buttons that check the chain and take the audit away. */
export function ChainButtons({ check }: Pick<ChainCheck, 'check'>) {
  const download = useAction(exportAudit, {
    onSuccess: ({ data }) => {
      if (!data) return
      startDownload(data.endereco, data.nome)
      notifyInfo('O download da auditoria começou.', {
        description:
          'São todos os registros, também os que o filtro não mostra: só inteira a cadeia pode ser conferida.',
      })
    },
  })
  return (
    <div className="flex flex-wrap gap-2">
      <Button variant="outline" busy={check.isPending} onClick={() => check.mutate()}>
        <Link2 aria-hidden className="size-4" />
        Conferir a cadeia
      </Button>
      <Button variant="outline" busy={download.isPending} onClick={() => download.mutate({})}>
        <Download aria-hidden className="size-4" />
        Exportar tudo em CSV
      </Button>
    </div>
  )
}

/** What the check of the chain found, or why it could not go on. */
export function ChainResult({ checked, check }: ChainCheck) {
  if (checked && checked.broken.length > 0) return <BrokenChain checked={checked} />
  if (check.isPending)
    return (
      <Notice tone="info" title="Conferindo a cadeia...">
        {checked?.until && (
          <>
            {count(checked.entries)} até {moment(checked.until)}.
          </>
        )}
      </Notice>
    )
  if (check.error)
    return (
      <Notice
        tone="error"
        title={`A conferência parou: ${errorMessage(check.error)}`}
        action={
          <Button variant="outline" size="sm" onClick={() => check.mutate()}>
            {checked?.next ? 'Continuar' : 'Tentar novamente'}
          </Button>
        }
      >
        Os registros continuam guardados.
      </Notice>
    )
  if (!checked) return null
  const { entries, unchained, until, digest } = checked
  return (
    <Notice
      tone="info"
      title={`A cadeia confere: ${count(entries - unchained)} até ${until ? moment(until) : 'agora'}, ${entries - unchained === 1 ? 'como foi escrito' : 'como foram escritos'}.`}
    >
      {unchained > 0 && (
        <p>Outros {count(unchained)} são de antes de os registros serem encadeados: sobre eles nada se pode afirmar.</p>
      )}
      {digest && (
        <p>
          Último resumo: <code className="break-all">{digest}</code>. Guarde-o fora daqui: só comparando com ele se nota
          que os últimos registros foram cortados.
        </p>
      )}
    </Notice>
  )
}

const shownMax = 5
// So many the server names of a part.
const namedMax = 100

function BrokenChain({ checked: { broken, entries, until } }: { checked: Checked }) {
  const many =
    broken.length >= namedMax ? `${broken.length} ou mais pontos` : formatCount(broken.length, 'ponto', 'pontos')
  return (
    <Notice
      tone="error"
      title={`A cadeia está quebrada em ${many}: alguém mexeu nestes registros por fora do sistema.`}
    >
      <ul className="my-1 list-disc pl-5">
        {broken.slice(0, shownMax).map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry has no id, and two may be equal to the millisecond.
          <li key={`${row.quando} ${index}`}>
            {moment(row.quando)} · {row.usuario} · {row.descricao}
          </li>
        ))}
      </ul>
      <p>
        Cada um foi alterado ou incluído por fora, ou falta um antes dele. O sistema não altera nem apaga registros, e
        os seus documentos não dependem deles. Avise quem cuida do servidor: uma cópia de segurança mostra o que havia.
      </p>
      <p>
        {count(entries)} {entries === 1 ? 'conferido' : 'conferidos'}
        {until && ` até ${moment(until)}`}.
      </p>
    </Notice>
  )
}

const count = (entries: number) => formatCount(entries, 'registro', 'registros')
const moment = (instant: string) => `${formatInstantDate(instant)} às ${formatTime(instant)}`
