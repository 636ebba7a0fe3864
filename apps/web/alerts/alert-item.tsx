import { type Alert, downloadEvidence, type getAlert, setAlertState } from '@vigia/contract/alerts'
import type { RouteData } from '@vigia/contract/route'
import { formatCount, formatDate, formatInstantDate, formatMoney, formatTime } from '@vigia/contract/text'
import { desconhecimento, nfe } from '@vigia/dfe/families/nfe'
import { useState } from 'react'
import { Link } from 'react-router'
import { documentAddress } from '../lib/addresses.ts'
import { callBytes, errorMessage } from '../lib/api.ts'
import { kindOf } from '../lib/kinds.ts'
import { notifyError, notifySuccess } from '../lib/notify.ts'
import { useAction } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { Badge } from '../ui/badge.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { saveFile } from '../ui/save-file.ts'
import { bands, hasCompared, nameOf, states } from './words.ts'

interface AlertItemProps {
  alert: Alert
  /** Earlier evaluations, newest first. */
  earlier?: RouteData<typeof getAlert>['anteriores']
  onKnown: (alert: Alert) => void
  onCompare: (alert: Alert, reason: Alert['motivos'][number]) => void
}

// Rules that find an issuer whom the company does not know.
const aboutStrangers = ['S01', 'S13', 'S17', 'S46']

const someone = 'alguém que não tem mais conta'
const moment = (instant: string) => `${formatInstantDate(instant)} às ${formatTime(instant)}`

/** An alert with its reasons and its state. */
export function AlertItem({ alert, earlier = [], onKnown, onCompare }: AlertItemProps) {
  const { faixa, estado, emitente, idEmpresa, empresa, valor, emissao, motivos, decisao } = alert
  const { label, tone, icon } = bands[faixa]
  return (
    <li className="py-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={tone} icon={icon}>
          {label}
        </Badge>
        <h2 className="min-w-0 break-words font-semibold">
          <Link to={documentAddress(alert)} className="hover:underline hover:underline-offset-3">
            {nameOf(alert)} · {emitente}
          </Link>
        </h2>
        {estado !== 'nova' && <Badge tone={estado === 'confirmada' ? 'red' : 'plain'}>{states[estado]}</Badge>}
      </div>
      <p className="mt-0.5 text-muted text-sm tabular-nums">
        {formatMoney(valor)} · {`emitid${kindOf(alert.chave).ending}`} em {formatDate(emissao)} ·{' '}
        <CompanyName id={idEmpresa} name={empresa} />
      </p>
      <ul className="mt-2 grid max-w-3xl gap-1.5" aria-label="Motivos">
        {motivos.map((reason) => (
          <li key={reason.regra} className="flex flex-wrap items-baseline gap-x-3">
            <span className="min-w-0 flex-1 basis-64 break-words">
              {reason.frase} <span className="text-muted text-sm">{reason.nome}</span>
              {reason.emAprendizado && <span className="text-muted text-sm"> · em aprendizado</span>}
            </span>
            {hasCompared(reason) && (
              <Button variant="ghost" size="sm" onClick={() => onCompare(alert, reason)}>
                Comparar com {formatCount(reason.comparados.length, 'documento', 'documentos')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {alert.seguraCiencia && <p className="mt-2 text-sm">A Ciência automática desta nota está suspensa.</p>}
      {decisao && (
        <p className="mt-2 text-muted text-sm">
          {estado === 'nova' ? 'Era ignorada, e o resultado mudou depois' : states[estado]}, por{' '}
          {decisao.quem ?? someone}, em {moment(decisao.quando)}.
          {alert.motivoNovo && estado !== 'nova' && ' O resultado mudou depois: veja os motivos acima.'}
        </p>
      )}
      <Decisions alert={alert} onKnown={onKnown} />
      {earlier.length > 0 && (
        <details className="mt-3">
          <summary className="cursor-pointer text-muted text-sm">
            {formatCount(earlier.length, 'resultado anterior', 'resultados anteriores')}
          </summary>
          <ul className="mt-1 grid gap-1 text-sm">
            {earlier.map(({ quando, faixa, texto }) => (
              <li key={quando}>
                <span className="text-muted tabular-nums">{moment(quando)}</span> · {bands[faixa].label}
                {texto && `: ${texto}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

function Decisions({ alert, onKnown }: Pick<AlertItemProps, 'alert' | 'onKnown'>) {
  const may = useMay('fiscal')
  const [confirming, setConfirming] = useState(false)
  const action = useAction(setAlertState, {
    onSuccess: ({ message }) => {
      setConfirming(false)
      notifySuccess(message)
    },
    onError: () => setConfirming(false),
  })
  const set = (estado: 'em-analise' | 'confirmada') => action.mutate({ body: { idsDFe: [alert.idDFe], estado } })
  const { estado } = alert
  const name = `${nameOf(alert)} de ${alert.emitente}`
  const open = (
    <Link to={documentAddress(alert)} className={buttonClass({ variant: 'outline', size: 'sm' })}>
      Abrir documento
    </Link>
  )
  const isStranger = alert.motivos.some(({ regra }) => aboutStrangers.includes(regra))
  if (!may)
    return (
      <div className="mt-3 flex flex-wrap gap-2">
        {open}
        <Evidence alert={alert} name={name} />
      </div>
    )
  return (
    <div className="mt-3 flex flex-wrap gap-2">
      {open}
      {isStranger && alert.tipoDFe === nfe.code && estado !== 'conhecida' && (
        <Link to={documentAddress(alert, desconhecimento)} className={buttonClass({ variant: 'outline', size: 'sm' })}>
          Não reconheço
        </Link>
      )}
      <Changes by={setAlertState} noted={false}>
        {estado === 'nova' && (
          <Button
            variant="outline"
            size="sm"
            aria-label={`Analisar depois: ${name}`}
            busy={action.isPending}
            onClick={() => set('em-analise')}
          >
            Analisar depois
          </Button>
        )}
        {(estado === 'conhecida' || estado === 'confirmada') && (
          <Button
            variant="outline"
            size="sm"
            aria-label={`Voltar a analisar: ${name}`}
            busy={action.isPending}
            onClick={() => set('em-analise')}
          >
            Voltar a analisar
          </Button>
        )}
        {estado !== 'conhecida' && (
          <Button
            variant="outline"
            size="sm"
            aria-label={`Ignorar este motivo: ${name}`}
            onClick={() => onKnown(alert)}
          >
            Ignorar este motivo
          </Button>
        )}
        {estado !== 'confirmada' && estado !== 'conhecida' && (
          <Button
            variant="outline"
            size="sm"
            aria-label={`Confirmar suspeita: ${name}`}
            onClick={() => setConfirming(true)}
          >
            Confirmar suspeita
          </Button>
        )}
      </Changes>
      <Evidence alert={alert} name={name} />
      <ConfirmDialog
        open={confirming}
        title={`Confirmar a suspeita: ${nameOf(alert)}?`}
        confirm="Confirmar suspeita"
        busy={action.isPending}
        onConfirm={() => set('confirmada')}
        onCancel={() => setConfirming(false)}
      >
        <p>
          A Ciência automática desta nota fica suspensa. Nada é enviado à SEFAZ agora: se a empresa não comprou, abra o
          documento e responda com Desconhecimento da Operação.
        </p>
      </ConfirmDialog>
    </div>
  )
}

// Downloads the evidence: files, text and timeline.
function Evidence({ alert: { idDFe, chave }, name }: Pick<AlertItemProps, 'alert'> & { name: string }) {
  const [busy, setBusy] = useState(false)
  const take = async () => {
    setBusy(true)
    try {
      saveFile(await callBytes(downloadEvidence, { params: { idDFe } }), `evidencias-${chave}.zip`)
    } catch (cause) {
      notifyError(
        `Não foi possível baixar as evidências (${errorMessage(cause)}). Nada mudou; tente de novo em instantes.`,
      )
    }
    setBusy(false)
  }
  return (
    <Button variant="ghost" size="sm" aria-label={`Baixar evidências: ${name}`} busy={busy} onClick={() => void take()}>
      Baixar evidências
    </Button>
  )
}
