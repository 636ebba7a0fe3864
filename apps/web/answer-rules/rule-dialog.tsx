import { type AnswerRule, saveAnswerRule, testAnswerRule } from '@vigia/contract/answer-rules'
import { type AnswerRuleAnswer, answerRuleMax, purposes } from '@vigia/contract/codes'
import { AnswerRuleForm } from '@vigia/contract/forms'
import type { RouteData } from '@vigia/contract/route'
import { formatCount, formatDate, formatMoney } from '@vigia/contract/text'
import { useState } from 'react'
import { parseAmount } from '../lib/amount.ts'
import { useCompanyChoices } from '../lib/companies.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { CompanyName } from '../ui/company-name.tsx'
import { AllOrChosen } from '../ui/form/all-or-chosen.tsx'
import { DialogForm } from '../ui/form/dialog-form.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Select } from '../ui/form/select.tsx'
import { Switch } from '../ui/form/switch.tsx'
import { Textarea } from '../ui/form/textarea.tsx'
import { Notice } from '../ui/notice.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { answerText, bandWords, purposeWords } from './words.ts'

interface RuleDialogProps {
  /** Null: a new one. */
  rule: AnswerRule | null
  onClose: () => void
}

interface Draft {
  nome: string
  ativa: boolean
  companies: readonly string[] | null
  issuers: string
  isNew: '' | 'novo' | 'conhecido'
  band: '' | keyof typeof bandWords
  operation: '' | '0' | '1'
  purpose: '' | (typeof purposes)[number]
  cfops: string
  from: string
  to: string
  resposta: AnswerRuleAnswer
  dias: number
}

const onlyWhole =
  'Não está no resumo: a regra não registra uma Ciência. Com “Sempre perguntar” ela segura também os resumos.'

/** Form of a rule: conditions, answer, and a test on received notes. */
export function RuleDialog({ rule, onClose }: RuleDialogProps) {
  const [draft, setDraft] = useState(() => draftOf(rule))
  const [problems, setProblems] = useState<Partial<Record<string, string>>>({})
  const offered = useCompanyChoices()
  const action = useAction(saveAnswerRule, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  const test = useAction(testAnswerRule)
  const change = (part: Partial<Draft>) => {
    test.reset()
    setDraft({ ...draft, ...part })
  }
  // Sends the rule where it is wanted, when nothing is wrong in it.
  const send = (to: typeof action.mutate | typeof test.mutate) => {
    const body = bodyOf(draft, rule)
    const found = { ...ruleProblems(body), ...amountProblems(draft) }
    setProblems(found)
    if (Object.keys(found).length === 0) to({ body })
  }
  const wantsWhole = draft.purpose !== '' || draft.cfops.trim() !== ''
  return (
    <Dialog open onClose={onClose} title={rule ? 'Editar regra' : 'Nova regra'} className="max-w-2xl">
      <DialogForm
        save="Guardar regra"
        busy={action.isPending}
        error={action.error}
        onSave={() => send(action.mutate)}
        onCancel={onClose}
      >
        <Field label="Nome" required error={problems.nome}>
          {(control) => (
            <Input
              {...control}
              value={draft.nome}
              maxLength={60}
              onChange={({ target }) => change({ nome: target.value })}
            />
          )}
        </Field>
        <AllOrChosen
          offered={offered}
          chosen={draft.companies}
          onChange={(companies) => change({ companies })}
          error={problems.idsEmpresa}
        />
        <Field
          label="Emitentes"
          help="CNPJ, raiz de CNPJ ou CPF, um por linha. Vazio: todos."
          error={problems.emitentes}
        >
          {(control) => (
            <Textarea
              {...control}
              rows={3}
              value={draft.issuers}
              onChange={({ target }) => change({ issuers: target.value })}
            />
          )}
        </Field>
        <Field label="Já comprou deste emitente?">
          {(control) => (
            <Select
              {...control}
              value={draft.isNew}
              onChange={({ target }) => change({ isNew: target.value as Draft['isNew'] })}
            >
              <option value="">Tanto faz</option>
              <option value="novo">Não: é a primeira nota dele aqui</option>
              <option value="conhecido">Sim: há notas anteriores aqui</option>
            </Select>
          )}
        </Field>
        <Field
          label="Com alerta em aberto"
          help="Notas com alerta alto ou crítico nunca são respondidas automaticamente."
        >
          {(control) => (
            <Select
              {...control}
              value={draft.band}
              onChange={({ target }) => change({ band: target.value as Draft['band'] })}
            >
              <option value="">Tanto faz</option>
              {Object.entries(bandWords).map(([band, words]) => (
                <option key={band} value={band}>
                  Sim, {words}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label="Operação do emitente"
            help="“Entrada” e “saída” como o emitente as escreveu na nota: uma venda dele é uma saída."
            error={problems.operacao}
          >
            {(control) => (
              <Select
                {...control}
                value={draft.operation}
                onChange={({ target }) => change({ operation: target.value as Draft['operation'] })}
              >
                <option value="">Tanto faz</option>
                <option value="1">Saída: venda, remessa</option>
                <option value="0">Entrada: devolução ou retorno a ele</option>
              </Select>
            )}
          </Field>
          <Field label="Finalidade" help={onlyWhole} error={problems.finalidades}>
            {(control) => (
              <Select
                {...control}
                value={draft.purpose}
                onChange={({ target }) => change({ purpose: target.value as Draft['purpose'] })}
              >
                <option value="">Tanto faz</option>
                {purposes.map((purpose) => (
                  <option key={purpose} value={purpose}>
                    {purposeWords[purpose]}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <Field
          label="CFOP"
          help={`Como o emitente os escreve (5102), separados por vírgula; basta um item. Vazio: todos. ${onlyWhole}`}
          error={problems.cfops}
        >
          {(control) => (
            <Input
              {...control}
              value={draft.cfops}
              maxLength={400}
              onChange={({ target }) => change({ cfops: target.value })}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <AmountField
            label="Valor a partir de"
            error={problems.from ?? problems.valorDe}
            value={draft.from}
            onChange={(from) => change({ from })}
          />
          <AmountField
            label="Valor até"
            error={problems.to ?? problems.valorAte}
            value={draft.to}
            onChange={(to) => change({ to })}
          />
        </div>
        <Field
          label="O que fazer com estas notas"
          help={
            wantsWhole &&
            'Com Finalidade ou CFOP a regra não registra a Ciência: só pode sugerir uma resposta, ou deixar a nota para uma pessoa.'
          }
          error={problems.resposta ?? problems.condicoes}
        >
          {(control) => (
            <Select
              {...control}
              value={draft.resposta}
              onChange={({ target }) => change({ resposta: target.value as AnswerRuleAnswer })}
            >
              <option value="ciencia">Ciência quando a nota chega</option>
              <option value="ciencia-apos">Ciência alguns dias depois da autorização</option>
              <option value="perguntar">Sempre perguntar</option>
              <option value="sugerir-confirmacao">Sugerir a Confirmação: uma pessoa envia</option>
              <option value="preparar-desconhecimento">Preparar o Desconhecimento: uma pessoa envia</option>
            </Select>
          )}
        </Field>
        {draft.resposta === 'ciencia-apos' && (
          <Field
            label="Quantos dias"
            help="O prazo da Ciência é de dez dias. Até lá, uma pessoa ainda pode responder outra coisa."
            error={problems.dias}
          >
            {(control) => (
              <Input
                {...control}
                type="number"
                min={1}
                max={answerRuleMax.days}
                value={draft.dias}
                onChange={({ target }) => change({ dias: Number(target.value) })}
              />
            )}
          </Field>
        )}
        <Switch
          label="Regra ligada"
          help="Desligada, ela fica guardada e não decide nada."
          checked={draft.ativa}
          onChange={(ativa) => change({ ativa })}
        />
        <div className="grid justify-items-start gap-3">
          <Button variant="outline" busy={test.isPending} onClick={() => send(test.mutate)}>
            Testar com os últimos {answerRuleMax.testedDays} dias
          </Button>
          {test.data && <TestResult result={test.data.data!} />}
        </div>
      </DialogForm>
    </Dialog>
  )
}

interface AmountFieldProps {
  label: string
  error: string | undefined
  value: string
  onChange: (value: string) => void
}

function AmountField({ label, error, value, onChange }: AmountFieldProps) {
  return (
    <Field label={label} error={error}>
      {(control) => (
        <Input
          {...control}
          inputMode="decimal"
          placeholder="R$ 0,00"
          maxLength={20}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

function TestResult({ result }: { result: RouteData<typeof testAnswerRule> }) {
  const { totalDeItens, decididas, mudariam, exemplos } = result
  return (
    <div className="w-full">
      <Notice
        tone="info"
        title={`Nos últimos ${answerRuleMax.testedDays} dias: ${formatCount(totalDeItens, 'nota', 'notas')}; esta regra decidiria ${formatCount(decididas, 'nota', 'notas')}, e ${mudariam === 0 ? 'nada mudaria' : `${formatCount(mudariam, 'mudaria', 'mudariam')} de resposta`}.`}
      >
        Foi só um teste: nada foi guardado nem enviado.
      </Notice>
      {exemplos.length > 0 && (
        <ul className="mt-3 max-h-64 overflow-y-auto border-line border-t text-sm [&>li]:border-line [&>li]:border-b [&>li]:py-2">
          {exemplos.map(({ idDFe, numero, emitente, idEmpresa, empresa, valor, emissao, antes, depois }) => (
            <li key={idDFe}>
              <p className="break-words">
                <span className="font-semibold">NF-e {numero.toLocaleString('pt-BR')}</span> de {emitente},{' '}
                {formatMoney(valor)}, em {formatDate(emissao)}, para <CompanyName id={idEmpresa} name={empresa} />
              </p>
              <p className="text-muted">
                {decisionText(antes)} → {decisionText(depois)}
              </p>
            </li>
          ))}
        </ul>
      )}
      {mudariam > exemplos.length && <p className="mt-2 text-muted text-sm">As {exemplos.length} mais novas.</p>}
    </div>
  )
}

function decisionText({ regra, resposta }: RouteData<typeof testAnswerRule>['exemplos'][number]['antes']): string {
  const what = resposta === 'nada' ? 'Nada sai sozinho' : answerText({ resposta, dias: null })
  return regra === null ? what : `${resposta === 'ciencia-apos' ? 'Ciência depois de uma espera' : what} (“${regra}”)`
}

function draftOf(rule: AnswerRule | null): Draft {
  const conditions: Partial<AnswerRule['condicoes']> = rule?.condicoes ?? {}
  const { idsEmpresa, emitentes, emitenteNovo, comAlerta, operacao, finalidades, cfops, valorDe, valorAte } = conditions
  return {
    nome: rule?.nome ?? '',
    ativa: rule?.ativa ?? true,
    companies: idsEmpresa ?? null,
    issuers: emitentes?.join('\n') ?? '',
    isNew: emitenteNovo === undefined ? '' : emitenteNovo ? 'novo' : 'conhecido',
    band: comAlerta ?? '',
    operation: operacao ?? '',
    purpose: finalidades?.[0] ?? '',
    cfops: cfops?.join(', ') ?? '',
    from: amountWords(valorDe),
    to: amountWords(valorAte),
    resposta: rule?.resposta ?? 'ciencia',
    dias: rule?.dias ?? 3,
  }
}

// Parses an amount as people write it; null if empty or invalid.
const amountOf = (text: string) => (text.trim() === '' ? null : parseAmount(text))
const amountWords = (amount: number | undefined) =>
  amount === undefined ? '' : amount.toLocaleString('pt-BR', { minimumFractionDigits: 2 })

// Messages by field name; those of conditions under the name of the condition.
function ruleProblems(body: ReturnType<typeof bodyOf>): Partial<Record<string, string>> {
  const { error } = AnswerRuleForm.safeParse(body)
  const fieldOf = ([name, condition]: readonly PropertyKey[]) =>
    String(name === 'condicoes' ? (condition ?? name) : name)
  return Object.fromEntries(error?.issues.map(({ path, message }) => [fieldOf(path), message]).reverse() ?? [])
}

// An invalid amount must not become a rule without a limit.
function amountProblems(draft: Draft): Partial<Record<'from' | 'to', string>> {
  const isWrong = (text: string) => text.trim() !== '' && parseAmount(text) === null
  const wrong = 'Escreva um valor, como 1.500,00.'
  return { ...(isWrong(draft.from) && { from: wrong }), ...(isWrong(draft.to) && { to: wrong }) }
}

function bodyOf(
  { nome, ativa, companies, issuers, isNew, band, operation, purpose, cfops: typed, from, to, resposta, dias }: Draft,
  rule: AnswerRule | null,
) {
  const emitentes = issuers.split(/[\n,;]+/).flatMap((line) => line.trim() || [])
  const cfops = typed.split(/[\s,;]+/).filter(Boolean)
  // The dialog offers one; a program may have saved more.
  const several = rule?.condicoes.finalidades
  const finalidades = purpose !== '' && several?.[0] === purpose ? several : [purpose].filter((one) => one !== '')
  return {
    ...(rule && { idRegra: rule.idRegra }),
    nome,
    ativa,
    condicoes: {
      ...(companies && { idsEmpresa: [...companies] }),
      ...(emitentes.length > 0 && { emitentes }),
      ...(isNew !== '' && { emitenteNovo: isNew === 'novo' }),
      ...(band !== '' && { comAlerta: band }),
      ...(operation !== '' && { operacao: operation }),
      ...(finalidades.length > 0 && { finalidades }),
      ...(cfops.length > 0 && { cfops }),
      ...(amountOf(from) !== null && { valorDe: amountOf(from)! }),
      ...(amountOf(to) !== null && { valorAte: amountOf(to)! }),
    },
    resposta,
    ...(resposta === 'ciencia-apos' && { dias }),
  }
}
