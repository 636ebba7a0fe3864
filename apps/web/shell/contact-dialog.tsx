import { zodResolver } from '@hookform/resolvers/zod'
import { QueryClientProvider } from '@tanstack/react-query'
import { getAccount } from '@vigia/contract/accounts'
import { ContactForm } from '@vigia/contract/forms'
import { sendContact } from '@vigia/contract/site'
import { CircleCheck } from 'lucide-react'
import { type RefObject, useEffect, useRef } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import type { z } from 'zod'
import { useContact } from '../lib/contact.ts'
import { actionMessage, queryClient, useAction, useScreenQuery } from '../lib/query.ts'
import { useSession } from '../lib/session.ts'
import { useUnloadQuestion } from '../lib/unload-question.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { maskPhone } from '../ui/form/phone.ts'
import { PhoneInput } from '../ui/form/phone-input.tsx'
import { Textarea } from '../ui/form/textarea.tsx'
import { Notice } from '../ui/notice.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'

type ContactValues = z.input<typeof ContactForm>

const fadeMs = 200

/** "Fale com a Gente", over any page. Keeps typed text when it is closed. */
export function ContactDialog() {
  return (
    <QueryClientProvider client={queryClient}>
      <ContactContent />
    </QueryClientProvider>
  )
}

function ContactContent() {
  const { open, show, close } = useContact()
  const form = useContactForm()
  const trap = useRef<HTMLInputElement>(null)
  // Opens again on a failure: a person who closed it would believe that the message was sent.
  const action = useAction(sendContact, { errorToast: false, onError: show })
  const sent = action.isSuccess
  useUnloadQuestion(!sent && form.formState.isDirty)
  const { reset: resetAction } = action
  const { reset: resetForm } = form
  useEffect(() => {
    if (open || !sent) return
    // The form is cleared when the dialog has faded out.
    const timer = setTimeout(() => {
      resetForm(undefined, { keepDirtyValues: false })
      resetAction()
    }, fadeMs)
    return () => clearTimeout(timer)
  }, [open, sent, resetForm, resetAction])
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Fale com a Gente"
      description={sent ? undefined : 'Conte o que você precisa. A resposta vai para o seu e-mail.'}
    >
      {sent ? (
        <Sent message={action.data.message} onClose={close} />
      ) : (
        <form
          className="flex min-h-0 flex-col"
          noValidate
          onSubmit={form.handleSubmit((values) =>
            action.mutate({ body: { ...values, confirmacao: trap.current?.value || undefined } }),
          )}
        >
          <ContactFields form={form} trap={trap} problem={action.error} />
          <footer className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3.5">
            <Button variant="outline" onClick={close}>
              Cancelar
            </Button>
            <Button type="submit" busy={action.isPending}>
              {action.isPending ? 'Enviando...' : 'Enviar mensagem'}
            </Button>
          </footer>
        </form>
      )}
    </Dialog>
  )
}

function useContactForm() {
  const { session } = useSession()
  const { data: account } = useScreenQuery(getAccount, {}, { enabled: session !== null })
  const blank: ContactValues = { nome: '', email: session?.email ?? '', celular: '', empresa: '', mensagem: '' }
  const known = account && { nome: account.nome, email: account.email, celular: maskPhone(account.celular ?? '') }
  return useForm({
    resolver: zodResolver(ContactForm),
    defaultValues: blank,
    ...(known && { values: { ...blank, ...known } }),
    resetOptions: { keepDirtyValues: true },
  })
}

interface FieldsProps {
  form: UseFormReturn<ContactValues, unknown, z.output<typeof ContactForm>>
  trap: RefObject<HTMLInputElement | null>
  problem: Error | null
}

function ContactFields({ form: { register, formState }, trap, problem }: FieldsProps) {
  const { errors } = formState
  // A signed-in person's name and e-mail are filled in, so the focus goes to the message.
  const known = useSession().session !== null
  return (
    <div className="grid gap-4 overflow-y-auto px-5 py-5">
      {problem && (
        <Notice tone="error" title={actionMessage(problem)}>
          A mensagem não foi enviada. O que você escreveu continua aqui.
        </Notice>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Nome" required error={errors.nome?.message}>
          {(control) => (
            <Input
              {...control}
              {...register('nome')}
              data-initial-focus={known ? undefined : true}
              autoComplete="name"
            />
          )}
        </Field>
        <Field label="Email" required error={errors.email?.message}>
          {(control) => <Input {...control} {...register('email')} type="email" autoComplete="email" />}
        </Field>
        <Field label="Celular" error={errors.celular?.message}>
          {(control) => <PhoneInput {...control} {...register('celular')} />}
        </Field>
        <Field label="Empresa" error={errors.empresa?.message}>
          {(control) => <Input {...control} {...register('empresa')} autoComplete="organization" />}
        </Field>
      </div>
      <Field label="Mensagem" required error={errors.mensagem?.message}>
        {(control) => (
          <Textarea {...control} {...register('mensagem')} data-initial-focus={known ? true : undefined} rows={5} />
        )}
      </Field>
      {/* Only programs fill this in: `inert` hides it from people, screen readers and autofill. */}
      <div inert aria-hidden className="sr-only">
        <label>
          Confirmação
          <input ref={trap} name="confirmacao" tabIndex={-1} autoComplete="off" data-1p-ignore data-lpignore="true" />
        </label>
      </div>
    </div>
  )
}

function Sent({ message, onClose }: { message: string; onClose: () => void }) {
  const text = useRef<HTMLParagraphElement>(null)
  useEffect(() => text.current?.focus(), [])
  return (
    <>
      <p ref={text} tabIndex={-1} className="flex gap-3 px-5 py-7 text-lg outline-none">
        <CircleCheck aria-hidden className="mt-0.5 size-5 shrink-0 text-success" />
        {message}
      </p>
      <footer className="flex justify-end border-line border-t px-5 py-3.5">
        <Button onClick={onClose}>Fechar</Button>
      </footer>
    </>
  )
}
