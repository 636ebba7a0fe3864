import {
  type AnswerRule,
  listAnswerRules,
  orderAnswerRules,
  removeAnswerRule,
  saveAnswerRule,
} from '@vigia/contract/answer-rules'
import { formatInstantDate, formatList } from '@vigia/contract/text'
import { ArrowDown, ArrowUp, ListChecks, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { companyText, useCompanies, useCompanyText } from '../lib/companies.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { Page } from '../ui/page.tsx'
import { RuleDialog } from './rule-dialog.tsx'
import { answerText, conditionText } from './words.ts'

/** Rules for the automatic Ciência and for suggested answers. */
export function AnswerRulesPage() {
  const rules = useScreenQuery(listAnswerRules, {})
  const may = useMay('administrador')
  const textOf = useCompanyText()
  const [edited, setEdited] = useState<AnswerRule | 'new' | null>(null)
  const [removing, setRemoving] = useState<AnswerRule | null>(null)
  const remove = useAction(removeAnswerRule, {
    onSuccess: ({ message }) => {
      setRemoving(null)
      notifySuccess(message)
    },
    onError: () => setRemoving(null),
  })
  const add = may && (
    <Changes by={saveAnswerRule} noted={false}>
      <Button onClick={() => setEdited('new')}>
        <Plus aria-hidden className="size-4" />
        Nova regra
      </Button>
    </Changes>
  )
  return (
    <Page
      title="Respostas por regra"
      site={productName}
      subtitle="Escolha quais notas recebem Ciência automática. Vale a primeira regra que se aplica."
      action={add}
    >
      <p className="mb-4 max-w-3xl text-muted">
        A Confirmação, o Desconhecimento e a Operação não Realizada nunca saem sozinhos. O que já foi registrado na
        SEFAZ não muda quando uma regra muda; o que ainda espera é decidido de novo antes de sair.
      </p>
      <p className="mb-4">
        <Link to="/aprovacoes" className="text-brand underline underline-offset-3">
          Respostas que precisam de duas pessoas
        </Link>
      </p>
      <Changes by={saveAnswerRule}>
        <Loaded query={rules}>
          {({ regras, comCienciaParaTodas }) => (
            <>
              {regras.length === 0 ? (
                <div className="ledger">
                  <Empty icon={<ListChecks />} title="Nenhuma regra ainda" action={add}>
                    Sem regras, vale em cada empresa o botão “Manifestar Ciência Automaticamente”.
                  </Empty>
                </div>
              ) : (
                <Rules rules={regras} may={may} onEdit={setEdited} onRemove={setRemoving} />
              )}
              <p className="mt-4">
                {comCienciaParaTodas.length === 0
                  ? 'Nas notas sem regra, sempre perguntamos.'
                  : `Nas notas sem regra, a Ciência é automática em ${someOf(comCienciaParaTodas.map(({ idEmpresa, empresa }) => textOf(idEmpresa, empresa)))}, onde o botão está ligado.`}
              </p>
            </>
          )}
        </Loaded>
      </Changes>
      {edited && <RuleDialog rule={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
      <ConfirmDialog
        open={removing !== null}
        title={`Apagar a regra “${removing?.nome ?? ''}”?`}
        confirm="Apagar"
        danger
        busy={remove.isPending}
        onConfirm={() => removing && remove.mutate({ body: { idRegra: removing.idRegra } })}
        onCancel={() => setRemoving(null)}
      >
        <p>As notas que ela alcança passam às regras seguintes. O que esperava por causa dela não é enviado.</p>
      </ConfirmDialog>
    </Page>
  )
}

const shownMax = 3

function someOf(names: readonly string[]): string {
  const rest = names.length - shownMax
  return formatList(rest > 0 ? [...names.slice(0, shownMax), `mais ${rest}`] : names)
}

interface RulesProps {
  rules: readonly AnswerRule[]
  may: boolean
  onEdit: (rule: AnswerRule) => void
  onRemove: (rule: AnswerRule) => void
}

function Rules({ rules, may, onEdit, onRemove }: RulesProps) {
  const { data: companies = [] } = useCompanies()
  const nameOf = (id: string) => {
    const company = companies.find((one) => one.id === id)
    return company ? companyText(company, companies) : 'uma empresa'
  }
  const action = useAction(orderAnswerRules, { onSuccess: ({ message }) => notifySuccess(message) })
  const ids = rules.map(({ idRegra }) => idRegra)
  const swap = (at: number, other: number) =>
    action.mutate({ body: { idsRegra: ids.with(at, ids[other]!).with(other, ids[at]!) } })
  return (
    <ol className="ledger [&>li]:border-line [&>li]:border-b">
      {rules.map((rule, at) => (
        <li key={rule.idRegra} className="flex flex-wrap items-start gap-x-4 gap-y-2 py-3">
          <span className="w-6 text-right text-muted tabular-nums">{at + 1}</span>
          <div className="min-w-0 flex-1 basis-72">
            <p className="flex flex-wrap items-center gap-2 break-words font-semibold">
              {rule.nome}
              {!rule.ativa && <Badge tone="plain">Desligada</Badge>}
            </p>
            <p className="break-words">
              {conditionText(rule.condicoes, nameOf)}: {answerText(rule)}.
            </p>
            <p className="text-muted text-sm">
              Guardada por {rule.guardadaPor ?? 'alguém que não tem mais conta'} em {formatInstantDate(rule.guardadaEm)}
              .
            </p>
          </div>
          {may && (
            <div className="flex flex-wrap gap-2">
              <MoveButton
                label={`Subir ${rule.nome}`}
                disabled={at === 0 || action.isPending}
                onClick={() => swap(at, at - 1)}
                up
              />
              <MoveButton
                label={`Descer ${rule.nome}`}
                disabled={at === rules.length - 1 || action.isPending}
                onClick={() => swap(at, at + 1)}
              />
              <Button variant="outline" size="sm" aria-label={`Editar ${rule.nome}`} onClick={() => onEdit(rule)}>
                Editar
              </Button>
              <Button variant="outline" size="sm" aria-label={`Apagar ${rule.nome}`} onClick={() => onRemove(rule)}>
                Apagar
              </Button>
            </div>
          )}
        </li>
      ))}
    </ol>
  )
}

interface MoveButtonProps {
  label: string
  disabled: boolean
  onClick: () => void
  up?: boolean
}

function MoveButton({ label, disabled, onClick, up = false }: MoveButtonProps) {
  const Icon = up ? ArrowUp : ArrowDown
  return (
    <Button
      variant="ghost"
      size="icon"
      aria-label={label}
      title={up ? 'Subir' : 'Descer'}
      // Not `disabled`, because the pressed button must keep the focus.
      aria-disabled={disabled || undefined}
      onClick={() => !disabled && onClick()}
    >
      <Icon aria-hidden className="size-4" />
    </Button>
  )
}
