import {
  type AskedAnswer,
  decideAsked,
  getTwoPeople,
  listAsked,
  saveTwoPeople,
  type TwoPeople,
} from '@vigia/contract/answer-rules'
import { listPath } from '@vigia/contract/codes'
import { AskedForm } from '@vigia/contract/forms'
import { formatCount, formatInstantDate, formatList, formatMoney } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { UserCheck } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { parseAmount } from '../lib/amount.ts'
import { kindOf } from '../lib/kinds.ts'
import { notifySuccess } from '../lib/notify.ts'
import { problemsOf } from '../lib/problems.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { Empty } from '../ui/empty.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { DialogForm, toggle } from '../ui/form/dialog-form.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { Page } from '../ui/page.tsx'
import { HeldEvents } from './held-events.tsx'

/** The answers that wait for a second person, and from which amount on they do. */
export function AskedPage() {
  const asked = useScreenQuery(listAsked, {})
  // Kept outside the list, because typed text must survive another person's decision.
  const [refusing, setRefusing] = useState<readonly string[] | null>(null)
  return (
    <Page
      title="Aprovações pendentes"
      site={productName}
      subtitle="Respostas a partir de um valor só são enviadas quando outra pessoa as aprova."
    >
      <HeldEvents />
      <Setting />
      <Loaded query={asked}>
        {({ items, totalDeItens }) =>
          items.length === 0 ? (
            <div className="ledger">
              <Empty icon={<UserCheck />} title="Nenhuma aprovação pendente">
                O que for pedido a partir do valor aparece aqui, e o sino avisa.
              </Empty>
            </div>
          ) : (
            <Waiting items={items} total={totalDeItens} onRefuse={setRefusing} />
          )
        }
      </Loaded>
      {refusing && <RefuseDialog ids={listed(refusing, asked.data?.items ?? [])} onClose={() => setRefusing(null)} />}
    </Page>
  )
}

// Only ids that still wait, because the server refuses the whole call otherwise.
function listed(ids: readonly string[], items: readonly AskedAnswer[]): readonly string[] {
  return ids.filter((id) => items.some(({ idPedido }) => idPedido === id))
}

function Setting() {
  const setting = useScreenQuery(getTwoPeople, {})
  const may = useMay('administrador')
  const [editing, setEditing] = useState(false)
  return (
    <section aria-label="Valor" className="mb-6">
      <Loaded query={setting}>
        {({ valor, guardadoPor, guardadoEm, empresasSemSegunda }) => (
          <div className="grid justify-items-start gap-3">
            <p>
              {valor == null
                ? 'Dupla aprovação desligada.'
                : `A partir de ${formatMoney(valor)}: Confirmação, Desconhecimento, Operação não Realizada e desacordo precisam de duas pessoas.`}
              {guardadoEm && (
                <span className="text-muted text-sm">
                  {' '}
                  Guardado por {guardadoPor ?? 'alguém que não tem mais conta'} em {formatInstantDate(guardadoEm)}.
                </span>
              )}
            </p>
            {valor != null && empresasSemSegunda.length > 0 && (
              <Notice tone="warning" title={`Ninguém pode aprovar em ${namesOf(empresasSemSegunda)}`}>
                Só uma pessoa, ou nenhuma, pode responder ali: o que for pedido a partir do valor não sai. Convide outra
                pessoa que possa responder, ou desligue o valor.
              </Notice>
            )}
            {may && (
              <Changes by={saveTwoPeople}>
                <Button variant="outline" size="sm" onClick={() => setEditing(true)}>
                  Definir valor
                </Button>
              </Changes>
            )}
            {editing && (
              <SettingDialog valor={valor} empresasSemSegunda={empresasSemSegunda} onClose={() => setEditing(false)} />
            )}
          </div>
        )}
      </Loaded>
    </section>
  )
}

function namesOf(names: readonly string[]): string {
  return formatList(names.length > 3 ? [...names.slice(0, 3), `mais ${names.length - 3}`] : names)
}

interface SettingDialogProps extends Pick<TwoPeople, 'valor' | 'empresasSemSegunda'> {
  onClose: () => void
}

function SettingDialog({ valor, empresasSemSegunda, onClose }: SettingDialogProps) {
  const [text, setText] = useState(valor?.toLocaleString('pt-BR', { minimumFractionDigits: 2 }) ?? '')
  const [problem, setProblem] = useState<string>()
  const action = useAction(saveTwoPeople, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  const save = () => {
    const amount = text.trim() === '' ? null : Number(parseAmount(text) ?? Number.NaN)
    const wrong = amount !== null && !(amount > 0)
    setProblem(wrong ? 'Escreva um valor, como 10.000,00.' : undefined)
    if (!wrong) action.mutate({ body: { valor: amount } })
  }
  return (
    <Dialog open onClose={onClose} title="Respostas com duas pessoas">
      <DialogForm save="Guardar" busy={action.isPending} error={action.error} onSave={save} onCancel={onClose}>
        {empresasSemSegunda.length > 0 && (
          <Notice tone="warning" title={`Em ${namesOf(empresasSemSegunda)} ninguém poderia aprovar`}>
            Só uma pessoa pode responder ali. Com um valor, nenhuma resposta a partir dele sairia mais; convide antes
            outra pessoa que possa responder.
          </Notice>
        )}
        <Field
          label="A partir de"
          help="Vazio: desligado. O que já espera continua esperando, e todos do workspace são avisados da mudança."
          error={problem}
        >
          {(control) => (
            <Input
              {...control}
              data-initial-focus
              inputMode="decimal"
              placeholder="R$ 0,00"
              maxLength={20}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

interface WaitingProps {
  items: readonly AskedAnswer[]
  total: number
  onRefuse: (ids: readonly string[]) => void
}

function Waiting({ items, total, onRefuse }: WaitingProps) {
  const may = useMay('fiscal')
  const [ticked, setChosen] = useState<readonly string[]>([])
  const [confirming, setConfirming] = useState(false)
  const chosen = listed(ticked, items)
  const action = useAction(decideAsked, {
    onSuccess: ({ message }) => {
      setConfirming(false)
      setChosen([])
      notifySuccess(message)
    },
    onError: () => setConfirming(false),
  })
  const approvable = items.filter((one) => chosen.includes(one.idPedido) && one.impedimento === null)
  return (
    <>
      {may && (
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <Checkbox
            label={`Todas (${items.length})`}
            checked={chosen.length === items.length}
            onChange={({ target }) => setChosen(target.checked ? items.map(({ idPedido }) => idPedido) : [])}
          />
          <Button size="sm" disabled={approvable.length === 0} onClick={() => setConfirming(true)}>
            Aprovar e enviar ({approvable.length})
          </Button>
          <Button variant="outline" size="sm" disabled={chosen.length === 0} onClick={() => onRefuse(chosen)}>
            Recusar ({chosen.length})
          </Button>
          <ConfirmDialog
            open={confirming}
            title={`Enviar ${formatCount(approvable.length, 'resposta', 'respostas')} à SEFAZ?`}
            confirm="Aprovar e enviar"
            busy={action.isPending}
            onConfirm={() => action.mutate({ body: { idsPedido: approvable.map(idOf), aprovar: true } })}
            onCancel={() => setConfirming(false)}
          >
            {[...new Set(approvable.map(meaningOf))].map((meaning) => (
              <p key={meaning}>{meaning}</p>
            ))}
          </ConfirmDialog>
        </div>
      )}
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        {items.map((item) => (
          <li key={item.idPedido} className="flex flex-wrap items-start gap-x-4 gap-y-2 py-3">
            {may && (
              <Checkbox
                bare
                label={`Escolher ${item.descricao} de ${item.numero}`}
                checked={chosen.includes(item.idPedido)}
                onChange={({ target }) => setChosen(toggle(chosen, item.idPedido, target.checked))}
              />
            )}
            <AskedText {...item} />
          </li>
        ))}
      </ul>
      {total > items.length && (
        <p className="mt-2 text-muted text-sm">
          As {items.length} mais antigas de {total}.
        </p>
      )}
    </>
  )
}

const idOf = ({ idPedido }: AskedAnswer) => idPedido

function meaningOf({ chave, tpEvento, descricao }: AskedAnswer): string {
  const answer = kindOf(chave).answers.find((one) => one.tpEvento === tpEvento)
  return `${descricao}. ${answer?.means ?? ''}`
}

function AskedText({
  tipoDFe,
  chave,
  numero,
  emitente,
  idEmpresa,
  empresa,
  valor,
  descricao,
  justificativa,
  motivo,
  prazo,
  impedimento,
}: AskedAnswer) {
  const list = listPath(tipoDFe)
  return (
    <div className="min-w-0 flex-1 basis-72">
      <p className="break-words">
        <span className="font-semibold">{descricao}</span> ·{' '}
        <Link to={`${list}?periodo=todos&busca=${chave}`} className="text-brand underline underline-offset-3">
          {familyOf(tipoDFe).name} {numero}
        </Link>{' '}
        de {emitente}, {formatMoney(valor)}, para <CompanyName id={idEmpresa} name={empresa} />
      </p>
      {justificativa && <p className="break-words">{justificativa}</p>}
      <p className="break-words text-muted text-sm">
        {motivo}
        {prazo && ` Prazo: ${formatInstantDate(prazo)}.`}
      </p>
      {impedimento && <p className="text-muted text-sm">{impedimento}</p>}
    </div>
  )
}

function RefuseDialog({ ids, onClose }: { ids: readonly string[]; onClose: () => void }) {
  const [motivo, setMotivo] = useState('')
  const [problem, setProblem] = useState<string>()
  const action = useAction(decideAsked, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  const save = () => {
    const body = { idsPedido: [...ids], aprovar: false, motivo }
    const found = problemsOf(AskedForm, body).motivo
    setProblem(found)
    if (!found && ids.length > 0) action.mutate({ body })
  }
  const decided = ids.length === 0 && !action.isPending
  return (
    <Dialog
      open
      onClose={onClose}
      title={decided ? 'Recusar' : `Recusar ${formatCount(ids.length, 'resposta', 'respostas')}`}
    >
      <DialogForm save="Recusar" busy={action.isPending} error={action.error} onSave={save} onCancel={onClose}>
        {decided && <Notice tone="warning" title="Nenhuma delas espera mais: outra pessoa já decidiu." />}
        <p>Nada é enviado. Quem pediu lê o motivo nos eventos do documento, e pode pedir de novo.</p>
        <Field label="Motivo" required error={problem}>
          {(control) => (
            <Input
              {...control}
              data-initial-focus
              value={motivo}
              maxLength={200}
              onChange={({ target }) => setMotivo(target.value)}
            />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}
