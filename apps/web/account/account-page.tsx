import { addPasskey, beginSecondFactor, changePassword, deleteAccount, getAccount } from '@vigia/contract/accounts'
import { takeEverything } from '@vigia/contract/document-files'
import { changeLetterChoice } from '@vigia/contract/letters'
import type { RouteDefinition } from '@vigia/contract/route'
import { leaveWorkspace } from '@vigia/contract/team'
import { getPlan } from '@vigia/contract/workspace'
import type { ReactNode } from 'react'
import { errorMessage } from '../lib/api.ts'
import { useScreenQuery } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { hasPlans, productName } from '../lib/site.ts'
import { setTheme, type Theme, themeLabels, useTheme } from '../lib/theme.ts'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { useNamedSection } from '../ui/hooks/named-section.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { Identity } from './identity.tsx'
import { LeaveWorkspace } from './leave-workspace.tsx'
import { LetterChoice } from './letter-choice.tsx'
import { Passkeys } from './passkeys.tsx'
import { PasswordForm } from './password-form.tsx'
import { PlanCard } from './plan-card.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'
import { TakeEverything } from './take-everything.tsx'

export function AccountPage() {
  const account = useScreenQuery(getAccount, {})
  const plan = useScreenQuery(getPlan, {})
  const mayManage = useMay('administrador')
  useNamedSection(!account.isPending && !plan.isPending)
  return (
    <Page
      title="Minha conta"
      site={productName}
      subtitle={`Quem você é aqui, ${hasPlans ? 'o que o plano permite ' : ''}e de onde a conta está aberta.`}
    >
      <div className="max-w-5xl">
        <AccountSection id="dados" title="Dados" about="Como você aparece na auditoria e nos e-mails.">
          <LoadedOrNotice error={account.error} retry={account.refetch}>
            <Identity person={account.data} />
          </LoadedOrNotice>
        </AccountSection>
        {hasPlans && (
          <AccountSection id="plano" title="Plano" about="O que ele permite e quanto já foi usado.">
            <LoadedOrNotice error={plan.error} retry={plan.refetch}>
              <PlanCard plan={plan.data} />
            </LoadedOrNotice>
          </AccountSection>
        )}
        <AccountSection
          id="senha"
          by={changePassword}
          title="Senha"
          about="Ao trocar a senha, as outras sessões são encerradas."
        >
          <LoadedOrNotice error={account.error} retry={account.refetch}>
            <PasswordForm email={account.data?.email} />
          </LoadedOrNotice>
        </AccountSection>
        <AccountSection
          id="duas-etapas"
          by={beginSecondFactor}
          title="Verificação em duas etapas"
          about="Um código do celular, além da senha."
        >
          {/* Codes are shown once: a refresh that fails does not take them away. */}
          <LoadedOrNotice error={account.data ? null : account.error} retry={account.refetch}>
            {account.data && <SecondFactor state={account.data.duasEtapas ?? null} />}
          </LoadedOrNotice>
        </AccountSection>
        <AccountSection id="passkeys" by={addPasskey} title="Passkeys" about="Entrar sem digitar a senha.">
          <LoadedOrNotice error={account.data ? null : account.error} retry={account.refetch}>
            {account.data && <Passkeys passkeys={account.data.passkeys ?? null} />}
          </LoadedOrNotice>
        </AccountSection>
        <AccountSection
          id="sessoes"
          title="Sessões"
          about="Onde esta conta está aberta agora. Cada uma dura até 30 dias, ou 7 dias sem uso."
        >
          <Sessions shared={account.data?.compartilhada ?? false} />
        </AccountSection>
        <AccountSection
          id="avisos"
          by={changeLetterChoice}
          title="Avisos por e-mail"
          about="O que chega a você sem abrir o sistema."
        >
          <LetterChoice />
        </AccountSection>
        <AccountSection id="tema" title="Tema" about="Vale para este navegador.">
          <ThemeChoice />
        </AccountSection>
        {account.data?.papel && (
          <AccountSection
            id="workspace"
            by={leaveWorkspace}
            title="Workspace"
            about="Onde você está trabalhando, e o que pode aqui."
          >
            <LeaveWorkspace
              name={account.data.workspace}
              role={account.data.papel}
              isElsewhere={account.data.outrosWorkspaces}
            />
          </AccountSection>
        )}
        {mayManage && (
          <>
            <AccountSection
              id="sair-com-tudo"
              by={takeEverything}
              title="Exportar todos os dados"
              about="Tudo o que a conta guarda, num arquivo."
            >
              <TakeEverything />
            </AccountSection>
            <AccountSection id="excluir" by={deleteAccount} title="Excluir a conta" about="Com tudo o que ela guarda.">
              <LoadedOrNotice error={account.error} retry={account.refetch}>
                {account.data && <DeleteAccount at={account.data.exclusaoEm ?? null} onChange={account.refetch} />}
              </LoadedOrNotice>
            </AccountSection>
          </>
        )}
      </div>
    </Page>
  )
}

interface AccountSectionProps {
  id: string
  title: string
  about: string
  /** The call by which it changes something. */
  by?: RouteDefinition
  children: ReactNode
}

function AccountSection({ id, title, about, by = getAccount, children }: AccountSectionProps) {
  return (
    <section
      id={id}
      aria-labelledby={`${id}-titulo`}
      className="ledger mb-10 grid scroll-mt-16 grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-4 pt-4 lg:grid-cols-[15rem_minmax(0,1fr)]"
    >
      <div>
        <h2 id={`${id}-titulo`} tabIndex={-1} className="text-lg outline-none">
          {title}
        </h2>
        <p className="text-muted text-sm">{about}</p>
      </div>
      <div className="min-w-0">
        <Changes by={by}>{children}</Changes>
      </div>
    </section>
  )
}

function LoadedOrNotice({
  error,
  retry,
  children,
}: {
  error: Error | null
  retry: () => unknown
  children: ReactNode
}) {
  if (!error) return children
  return (
    <Notice
      tone="error"
      title={`Erro ao carregar dados: ${errorMessage(error)}`}
      action={
        <Button variant="outline" size="sm" onClick={() => void retry()}>
          Tentar novamente
        </Button>
      }
    >
      Nada foi alterado.
    </Notice>
  )
}

const themes: readonly Theme[] = ['light', 'dark', 'system']

function ThemeChoice() {
  const theme = useTheme()
  return (
    <fieldset className="flex flex-wrap gap-x-6 gap-y-2">
      <legend className="sr-only">Tema</legend>
      {themes.map((one) => (
        <label key={one} className="flex min-h-9 cursor-pointer items-center gap-2 pointer-coarse:min-h-11">
          <input
            type="radio"
            name="theme"
            checked={theme === one}
            onChange={() => setTheme(one)}
            className="size-4 accent-brand"
          />
          {themeLabels[one]}
        </label>
      ))}
    </fieldset>
  )
}
