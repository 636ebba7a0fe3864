import { type AlertRule, type AlertTest, alertMax, getAlertTest, switchAlertRule } from '@vigia/contract/alerts'
import { formatCount, formatDate, formatMoney } from '@vigia/contract/text'
import { Link } from 'react-router'
import { documentAddress } from '../lib/addresses.ts'
import { kindOf } from '../lib/kinds.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { TextNotice } from '../ui/notice.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { Progress } from '../ui/progress.tsx'
import { bands, nameOf, states } from './words.ts'

const refreshMs = 1_500

interface TestDialogProps {
  rule: AlertRule
  onClose: () => void
}

/** Progress and result of testing a rule on documents of recent months. */
export function TestDialog({ rule, onClose }: TestDialogProps) {
  const { id, nome, ligada } = rule
  const query = useScreenQuery(
    getAlertTest,
    { params: { id } },
    { refreshMs: (test) => (test && test.situacao !== 'testando' ? 0 : refreshMs) },
  )
  const action = useAction(switchAlertRule, {
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={nome}
      description={`Nos documentos emitidos nos últimos ${alertMax.testedDays} dias. Nada muda com o teste.`}
      className="max-w-3xl"
    >
      <div className="grid gap-4 overflow-y-auto px-5 py-4">
        <Loaded query={query}>{(test) => <Outcome test={test} isOn={ligada} />}</Loaded>
        {!ligada && (
          <div>
            <Button busy={action.isPending} onClick={() => action.mutate({ params: { id }, body: { ligada: true } })}>
              Ligar esta regra
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}

function Outcome({ test, isOn }: { test: AlertTest; isOn: boolean }) {
  const { situacao, avaliados, total, maisFortes } = test
  const percent = total === 0 ? 100 : Math.min(100, Math.round((avaliados / total) * 100))
  const progress = `${avaliados.toLocaleString('pt-BR')} de ${formatCount(total, 'documento', 'documentos')}`
  return (
    <>
      {situacao === 'testando' && (
        <div>
          <p className="mb-1 text-muted text-sm tabular-nums">{progress}</p>
          <Progress label={progress} percent={percent} />
        </div>
      )}
      {situacao === 'falhou' && (
        <TextNotice
          tone="warning"
          text="O teste parou no meio: o que está abaixo é só do começo. Nada mudou nos alertas; teste de novo em instantes."
        />
      )}
      {test.incompleto && (
        <TextNotice
          tone="info"
          text="Documentos mais antigos ainda estavam sendo lidos quando o teste começou: teste de novo quando todos estiverem avaliados."
        />
      )}
      <p role="status">{situacao === 'testando' ? '' : sentence(test, isOn)}</p>
      {maisFortes.length > 0 && (
        <section aria-labelledby="mais-fortes">
          <h3 id="mais-fortes" className="mb-1 font-semibold">
            Os mais graves
          </h3>
          <ul className="ledger [&>li]:border-line [&>li]:border-b">
            {maisFortes.map((one) => (
              <li key={one.idDFe} className="py-2.5">
                <p className="flex flex-wrap items-baseline gap-x-2">
                  <Badge tone={bands[one.com].tone} icon={bands[one.com].icon}>
                    {bands[one.com].label}
                  </Badge>
                  <Link
                    to={documentAddress(one)}
                    className="min-w-0 break-words font-semibold hover:underline hover:underline-offset-3"
                  >
                    {nameOf(one)} · {one.emitente}
                  </Link>
                  {one.estado && one.estado !== 'nova' && <Badge tone="plain">{states[one.estado]}</Badge>}
                </p>
                <p className="break-words">{one.frase}</p>
                <p className="text-muted text-sm tabular-nums">
                  {formatMoney(one.valor)} · {`emitid${kindOf(one.chave).ending}`} em {formatDate(one.emissao)} ·{' '}
                  <CompanyName id={one.idEmpresa} name={one.empresa} /> ·{' '}
                  {one.sem === null
                    ? 'sem a regra, nenhum alerta'
                    : `sem a regra, ${bands[one.sem].label.toLowerCase()}`}
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function sentence(test: AlertTest, isOn: boolean): string {
  const { avaliados, marcados, emAprendizado, confirmados, conhecidos, alertasNovos, mudamDeFaixa, limitado } = test
  const looked = `${formatCount(avaliados, 'documento avaliado', 'documentos avaliados')}${limitado ? ' (só os mais novos: há mais do que um teste alcança)' : ''}`
  const known = conhecidos > 0 ? ` Outros ${conhecidos.toLocaleString('pt-BR')} foram ignorados.` : ''
  if (marcados === 0) return `${looked}: a regra não marca nenhum.${known}`
  const parts = [
    `${looked}: a regra marca ${marcados.toLocaleString('pt-BR')}.`,
    ...(alertasNovos > 0
      ? [`${formatCount(alertasNovos, 'só tem alerta por causa dela', 'só têm alerta por causa dela')}.`]
      : []),
    ...(mudamDeFaixa > 0
      ? [`${formatCount(mudamDeFaixa, 'está', 'estão')} em faixa mais grave ${isOn ? 'com ela' : 'se ela for ligada'}.`]
      : []),
    ...(confirmados > 0
      ? [`${formatCount(confirmados, 'já foi confirmado', 'já foram confirmados')} por uma pessoa.`]
      : []),
    ...(emAprendizado > 0
      ? [
          `${formatCount(emAprendizado, 'é só mostrado', 'são só mostrados')}, porque os hábitos da empresa ainda não são conhecidos.`,
        ]
      : []),
  ]
  return parts.join(' ') + known
}
