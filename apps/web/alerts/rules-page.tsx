import {
  type AlertRule,
  alertMax,
  listAlertHabits,
  listAlertRules,
  listKnownAlerts,
  removeKnownAlert,
  switchAlertRule,
  testAlertRule,
} from '@vigia/contract/alerts'
import { formatCount, formatInstantDate, formatMoney } from '@vigia/contract/text'
import { useState } from 'react'
import { Link } from 'react-router'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { Switch } from '../ui/form/switch.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { RuleSettings } from './rule-settings.tsx'
import { TestDialog } from './test-dialog.tsx'

const families: Record<AlertRule['familia'], string> = {
  integridade: 'Integridade',
  identidade: 'Quem emite',
  valor: 'Valor',
  tempo: 'Datas e numeração',
  tributos: 'Tributos e pagamento',
  transporte: 'Transporte',
  cancelamento: 'Cancelamento e correção',
}

/** Alert rules with their statistics, and the reasons marked as known. */
export function RulesPage() {
  return (
    <Page
      title="Regras dos alertas"
      site={productName}
      subtitle="Quantas vezes cada regra disparou, o que as pessoas decidiram e as exceções."
    >
      <Link to="/alertas" className="mb-4 inline-block text-brand underline underline-offset-3">
        Todos os alertas
      </Link>
      <Changes by={switchAlertRule}>
        <RuleSettings />
        <Known />
      </Changes>
      <Habits />
      <Rules />
    </Page>
  )
}

function Known() {
  const may = useMay('administrador')
  const known = useScreenQuery(listKnownAlerts, {})
  const [removing, setRemoving] = useState('')
  const action = useAction(removeKnownAlert, { onSuccess: ({ message }) => notifySuccess(message) })
  return (
    <section aria-labelledby="conhecidos" className="mb-10">
      <h2 id="conhecidos" className="mb-2 text-lg">
        Exceções
      </h2>
      <Loaded query={known}>
        {(entries) =>
          entries.length === 0 ? (
            <p className="ledger py-4 text-muted">
              Nenhuma exceção. Use “Ignorar este motivo” em um alerta para criar uma.
            </p>
          ) : (
            <ul className="ledger [&>li]:border-line [&>li]:border-b">
              {entries.map(({ idConhecido, nome, emitente, idEmpresa, empresa, teto, ate, quem, quando }) => (
                <li key={idConhecido} className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1 py-2.5">
                  <div className="min-w-0 flex-1 basis-64">
                    <p className="break-words font-semibold">
                      {nome}: {emitente}
                    </p>
                    <p className="text-muted text-sm tabular-nums">
                      <CompanyName id={idEmpresa} name={empresa} /> ·{' '}
                      {teto === null ? 'qualquer valor' : `até ${formatMoney(teto)}`} · até {formatInstantDate(ate)} ·{' '}
                      {quem ?? 'alguém que não tem mais conta'}, em {formatInstantDate(quando)}
                    </p>
                  </div>
                  {may && (
                    <Button
                      variant="outline"
                      size="sm"
                      aria-label={`Desfazer: ${nome}, ${emitente}`}
                      busy={removing === idConhecido && action.isPending}
                      onClick={() => {
                        setRemoving(idConhecido)
                        action.mutate({ body: { idConhecido } })
                      }}
                    >
                      Desfazer
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

// Habits belong to no document and cause no alert; shown only when something is odd.
function Habits() {
  const { data } = useScreenQuery(listAlertHabits, {})
  if (!data || data.silencios.length + data.digitos.length === 0) return null
  return (
    <section aria-labelledby="habitos" className="mb-10">
      <h2 id="habitos" className="mb-2 text-lg">
        Comportamento dos fornecedores
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        {data.silencios.map(({ idEmpresa, empresa, dias, comum, capturaParada }) => (
          <li key={idEmpresa} className="py-2.5">
            <p className="break-words font-semibold">
              Silêncio: <CompanyName id={idEmpresa} name={empresa} />
            </p>
            <p className="text-muted text-sm">
              {capturaParada
                ? `Nenhuma nota há ${dias} dias, e a captura está parada: veja a empresa.`
                : `Nenhuma nota há ${dias} dias; quase sempre chega uma em até ${formatCount(comum, 'dia', 'dias')}.`}{' '}
              <Link to={`/empresas/editar/${idEmpresa}`} className="text-brand underline underline-offset-3">
                Ver a empresa
              </Link>
            </p>
          </li>
        ))}
        {data.digitos.map(({ raizEmitente, emitente, notas, desvio }) => (
          <li key={raizEmitente} className="py-2.5">
            <p className="break-words font-semibold">Primeiros dígitos: {emitente}</p>
            <p className="text-muted text-sm tabular-nums">
              Valores de {formatCount(notas, 'nota', 'notas')} fora da distribuição esperada (Benford, desvio médio{' '}
              {desvio.toLocaleString('pt-BR')}). Comum em quem vende a preço fixo.
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Rules() {
  const rules = useScreenQuery(listAlertRules, {})
  return (
    <Loaded query={rules}>
      {(all) =>
        Object.entries(families).map(([family, title]) => {
          const own = all.filter(({ familia }) => familia === family)
          return (
            own.length > 0 && (
              <section key={family} aria-labelledby={`familia-${family}`} className="mb-8">
                <h2 id={`familia-${family}`} className="mb-2 text-lg">
                  {title}
                </h2>
                <ul className="ledger [&>li]:border-line [&>li]:border-b">
                  {own.map((rule) => (
                    <RuleItem key={rule.id} rule={rule} />
                  ))}
                </ul>
              </section>
            )
          )
        })
      }
    </Loaded>
  )
}

function RuleItem({ rule }: { rule: AlertRule }) {
  const may = useMay('administrador')
  const action = useAction(switchAlertRule, { onSuccess: ({ message }) => notifySuccess(message) })
  const { id, nome, ligada, fixa } = rule
  return (
    <li className="py-3">
      {may && !fixa ? (
        <Changes by={switchAlertRule} noted={false}>
          <Switch
            label={nome}
            help={outcome(rule)}
            checked={ligada}
            onChange={(on) => action.mutate({ params: { id }, body: { ligada: on } })}
          />
        </Changes>
      ) : (
        <>
          <p className="font-semibold">{nome}</p>
          <p className="text-muted">
            {outcome(rule)}
            {fixa ? ' Sempre ligada.' : ligada ? '' : ' Desligada.'}
          </p>
        </>
      )}
      {may && <Test rule={rule} />}
    </li>
  )
}

function Test({ rule }: { rule: AlertRule }) {
  const [open, setOpen] = useState(false)
  const action = useAction(testAlertRule, { onSuccess: () => setOpen(true) })
  return (
    <div className="mt-1">
      <Button
        variant="ghost"
        size="sm"
        aria-label={`Testar nos últimos ${alertMax.testedDays} dias: ${rule.nome}`}
        busy={action.isPending}
        onClick={() => action.mutate({ params: { id: rule.id } })}
      >
        Testar nos últimos {alertMax.testedDays} dias
      </Button>
      {open && <TestDialog rule={rule} onClose={() => setOpen(false)} />}
    </div>
  )
}

function outcome({ disparos, confirmados, conhecidos, precisao }: AlertRule): string {
  if (disparos === 0) return 'Ainda não disparou.'
  const said = `${formatCount(confirmados, 'confirmado', 'confirmados')} e ${formatCount(conhecidos, 'ignorado', 'ignorados')}`
  const share = precisao === null ? 'nenhum tratado' : `${said}, acerto de ${Math.round(precisao * 100)}%`
  return `${formatCount(disparos, 'alerta', 'alertas')}, ${share}.`
}
