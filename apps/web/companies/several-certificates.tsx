import { useQueryClient } from '@tanstack/react-query'
import { createCompany, NewCompanyForm } from '@vigia/contract/companies'
import { formatCount } from '@vigia/contract/text'
import { CircleAlert, CircleCheck, LoaderCircle } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { ApiError, call } from '../lib/api.ts'
import { notifySuccess, notifyWarning } from '../lib/notify.ts'
import { actionMessage } from '../lib/query.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { useGone } from '../ui/hooks/gone.ts'

type Outcome = { id: string | null } | { problem: string } | 'sending' | undefined

interface SeveralCertificatesProps {
  files: readonly File[]
  /** Back to one certificate. */
  onCancel: () => void
}

/** Registers one company for each of several files, one after another, and shows the result of each. */
export function SeveralCertificates({ files, onCancel }: SeveralCertificatesProps) {
  const client = useQueryClient()
  const [shared, setShared] = useState('')
  const [own, setOwn] = useState<Record<number, string>>({})
  const [outcomes, setOutcomes] = useState<Record<number, Outcome>>({})
  const [busy, setBusy] = useState(false)
  const left = files.map((_, index) => index).filter((index) => !isDone(outcomes[index]))
  const done = files.length - left.length
  const isGone = useGone()
  useEffect(() => {
    if (!busy) return
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', onUnload)
    return () => removeEventListener('beforeunload', onUnload)
  }, [busy])
  const onward = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    if (left.length === 0) onward.current?.focus()
  }, [left.length])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    const results = { ...outcomes }
    for (const [index, file] of files.entries()) {
      if (isGone()) break
      if (isDone(outcomes[index])) continue
      setOutcomes((before) => ({ ...before, [index]: 'sending' }))
      const { outcome, isOver } = await register(file, own[index] || shared)
      setOutcomes((before) => ({ ...before, [index]: outcome }))
      results[index] = outcome
      if (isOver) break
    }
    setBusy(false)
    void client.invalidateQueries()
    if (isGone()) tellWhatBecame(files, results)
  }
  return (
    <form className="grid content-start gap-5" noValidate onSubmit={(event) => void submit(event)}>
      <div>
        <h2 className="text-lg">{formatCount(files.length, 'certificado', 'certificados')}</h2>
        <p className="text-muted">
          Cada arquivo vira uma empresa. Digite a senha de cada um, ou uma só quando for a mesma; o que falhar fica na
          lista para corrigir e tentar de novo.
        </p>
      </div>
      <Field label="Senha para todos" help="Vale para os arquivos sem senha própria.">
        {(control) => (
          <PasswordInput
            {...control}
            value={shared}
            autoComplete="off"
            disabled={busy}
            onChange={(event) => setShared(event.target.value)}
          />
        )}
      </Field>
      <ol className="border-line border-t">
        {files.map((file, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name, and the list never changes.
          <li key={index} className="grid gap-2 border-line border-b py-3 sm:grid-cols-[minmax(0,1fr)_15rem] sm:gap-4">
            <div className="min-w-0">
              <p className="break-words font-semibold">{file.name}</p>
              <Result outcome={outcomes[index]} />
            </div>
            {!isDone(outcomes[index]) && (
              <PasswordInput
                aria-label={`Senha de ${file.name}`}
                placeholder={shared ? 'A mesma de todos' : 'Senha'}
                value={own[index] ?? ''}
                autoComplete="off"
                disabled={busy}
                onChange={(event) => setOwn({ ...own, [index]: event.target.value })}
              />
            )}
          </li>
        ))}
      </ol>
      <p role="status" className="empty:hidden">
        {done > 0 && !busy && `${formatCount(done, 'empresa cadastrada', 'empresas cadastradas')} de ${files.length}.`}
      </p>
      <div className="flex flex-wrap gap-2">
        {left.length > 0 ? (
          <>
            <Button
              type="submit"
              size="lg"
              busy={busy}
              disabled={left.some((index) => !own[index] && !shared) || undefined}
            >
              {busy ? `Salvando ${done + 1} de ${files.length}...` : done > 0 ? 'Tentar de novo' : 'Salvar Empresas'}
            </Button>
            <Button variant="outline" size="lg" disabled={busy} onClick={onCancel}>
              {done > 0 ? 'Cadastrar outra' : 'Cancelar'}
            </Button>
          </>
        ) : (
          <Link ref={onward} to="/empresas" className={buttonClass({ size: 'lg' })}>
            Ver a lista
          </Link>
        )}
      </div>
    </form>
  )
}

const isDone = (outcome: Outcome) => typeof outcome === 'object' && 'id' in outcome

/** A toast for people who left the page meanwhile. */
function tellWhatBecame(files: readonly File[], outcomes: Record<number, Outcome>) {
  const names = (done: boolean) => files.filter((_, index) => isDone(outcomes[index]) === done).map((file) => file.name)
  const [registered, missing] = [names(true), names(false)]
  if (missing.length === 0)
    return notifySuccess(formatCount(files.length, 'empresa cadastrada', 'empresas cadastradas'))
  notifyWarning('Nem todos os certificados foram cadastrados', {
    description: `Cadastrados: ${registered.join(', ') || 'nenhum'}. Não cadastrados: ${missing.join(', ')}. Para cadastrar o que falta, escolha esses arquivos de novo em Nova Empresa.`,
  })
}

async function register(file: File, password: string): Promise<{ outcome: Outcome; isOver: boolean }> {
  const form = NewCompanyForm.safeParse({ Certificado: file, Senha: password })
  if (!form.success) return { outcome: { problem: form.error.issues[0]?.message ?? '' }, isOver: false }
  try {
    const { success, data, message, errors } = await call(createCompany, { form: form.data })
    if (!success) throw new ApiError(message, 200, { errors })
    return { outcome: { id: data?.idEmpresa ?? null }, isOver: false }
  } catch (error) {
    // The plan does not allow the others either.
    const isOver = error instanceof ApiError && (error.status === 402 || error.status === 401)
    return { outcome: { problem: actionMessage(error) }, isOver }
  }
}

function Result({ outcome }: { outcome: Outcome }) {
  if (!outcome) return null
  if (outcome === 'sending') {
    return (
      <p className="flex items-center gap-1.5 text-muted text-sm">
        <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
        Salvando...
      </p>
    )
  }
  if ('id' in outcome) {
    return (
      <p className="flex flex-wrap items-center gap-x-1.5 text-sm text-success">
        <CircleCheck aria-hidden className="size-3.5" />
        Cadastrada.
        {outcome.id !== null && (
          <Link
            to={`/empresas/editar/${outcome.id}`}
            className="rounded-control font-semibold text-brand underline underline-offset-3"
          >
            Abrir a empresa
          </Link>
        )}
      </p>
    )
  }
  return (
    <p role="alert" className="flex items-start gap-1.5 text-error text-sm">
      <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
      {outcome.problem}
    </p>
  )
}
