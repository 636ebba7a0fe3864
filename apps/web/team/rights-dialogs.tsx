import { InvitationForm, MemberForm } from '@vigia/contract/forms'
import { type MemberRole, memberRoles } from '@vigia/contract/route'
import { changeMember, invite } from '@vigia/contract/team'
import { useState } from 'react'
import { useCompanyChoices } from '../lib/companies.ts'
import { memberRoleWords } from '../lib/member-roles.ts'
import { notifySuccess } from '../lib/notify.ts'
import { problemsOf } from '../lib/problems.ts'
import { useAction } from '../lib/query.ts'
import { AllOrChosen } from '../ui/form/all-or-chosen.tsx'
import { DialogForm } from '../ui/form/dialog-form.tsx'
import { Field } from '../ui/form/field.tsx'
import { Input } from '../ui/form/input.tsx'
import { Select } from '../ui/form/select.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { lastDayOf, type Person, type Rights } from './rows.ts'

interface Choice {
  papel: MemberRole
  idsEmpresas: readonly string[] | null
  acessoAte: string
}

type Problems = Record<string, string>

const choiceOf = (rights: Rights): Choice => ({
  papel: rights.papel,
  idsEmpresas: rights.idsEmpresas,
  acessoAte: lastDayOf(rights),
})

const bodyOf = ({ papel, idsEmpresas, acessoAte }: Choice) => ({
  papel,
  idsEmpresas: idsEmpresas && [...idsEmpresas],
  acessoAte: acessoAte === '' ? null : acessoAte,
})

/** Form of an invitation and its rights. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [choice, setChoice] = useState<Choice>({ papel: 'fiscal', idsEmpresas: null, acessoAte: '' })
  const [problems, setProblems] = useState<Problems>({})
  const action = useAction(invite, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  const save = () => {
    const body = { email, ...bodyOf(choice) }
    const found = problemsOf(InvitationForm, body)
    setProblems(found)
    if (Object.keys(found).length === 0) action.mutate({ body })
  }
  return (
    <Dialog open onClose={onClose} title="Convidar para o workspace">
      <DialogForm save="Enviar convite" busy={action.isPending} error={action.error} onSave={save} onCancel={onClose}>
        <Field
          label="Email"
          required
          error={problems.email}
          help="Para onde vai o link do convite, que vale sete dias."
        >
          {(control) => (
            <Input
              {...control}
              type="email"
              autoComplete="off"
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
          )}
        </Field>
        <RightsFields choice={choice} onChange={setChoice} problems={problems} />
      </DialogForm>
    </Dialog>
  )
}

/** Form for changing the rights of a member. */
export function ChangeRightsDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const [choice, setChoice] = useState(() => choiceOf(person))
  const [problems, setProblems] = useState<Problems>({})
  const action = useAction(changeMember, {
    errorToast: false,
    onSuccess: ({ message }) => {
      notifySuccess(message)
      onClose()
    },
  })
  const save = () => {
    const body = { idPessoa: person.idPessoa, ...bodyOf(choice) }
    const found = problemsOf(MemberForm, body)
    setProblems(found)
    if (Object.keys(found).length === 0) action.mutate({ body })
  }
  return (
    <Dialog open onClose={onClose} title={`O que ${person.nome} pode`}>
      <DialogForm save="Salvar" busy={action.isPending} error={action.error} onSave={save} onCancel={onClose}>
        <RightsFields choice={choice} onChange={setChoice} problems={problems} />
      </DialogForm>
    </Dialog>
  )
}

interface RightsFieldsProps {
  choice: Choice
  onChange: (choice: Choice) => void
  problems: Problems
}

function RightsFields({ choice, onChange, problems }: RightsFieldsProps) {
  const { papel, idsEmpresas, acessoAte } = choice
  const companies = useCompanyChoices()
  const change = (next: Partial<Choice>) => onChange({ ...choice, ...next })
  const setRole = (next: MemberRole) =>
    change(
      next === 'administrador'
        ? { papel: next, idsEmpresas: null, acessoAte: '' }
        : { papel: next, ...(next === 'auditor' && { idsEmpresas: idsEmpresas ?? [] }) },
    )
  return (
    <>
      <Field label="Papel" error={problems.papel} help={memberRoleWords[papel].about}>
        {(control) => (
          <Select {...control} value={papel} onChange={({ target }) => setRole(target.value as MemberRole)}>
            {memberRoles.map((one) => (
              <option key={one} value={one}>
                {memberRoleWords[one].label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {papel !== 'administrador' && (
        <>
          <AllOrChosen
            offered={companies}
            chosen={idsEmpresas}
            onChange={(chosen) => change({ idsEmpresas: chosen })}
            error={problems.idsEmpresas}
            onlyChosen={papel === 'auditor'}
          />
          <Field
            label={papel === 'auditor' ? 'Último dia do acesso' : 'Último dia do acesso, se houver'}
            {...(papel === 'auditor' && { required: true })}
            error={problems.acessoAte}
          >
            {(control) => (
              <Input
                {...control}
                type="date"
                value={acessoAte}
                onChange={({ target }) => change({ acessoAte: target.value })}
              />
            )}
          </Field>
        </>
      )}
    </>
  )
}
