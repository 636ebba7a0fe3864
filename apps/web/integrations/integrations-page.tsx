import { getAccount } from '@vigia/contract/accounts'
import type { ReactNode } from 'react'
import { useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { useNamedSection } from '../ui/hooks/named-section.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Keys } from './keys.tsx'
import { Webhooks } from './webhooks.tsx'

/** API keys and webhooks of the workspace. */
export function IntegrationsPage() {
  const account = useScreenQuery(getAccount, {})
  const shared = account.data?.compartilhada ?? false
  useNamedSection(!account.isPending)
  return (
    <Page
      title="Integrações"
      site={productName}
      subtitle={
        <>
          Para outros sistemas, como o ERP ou o da contabilidade.{' '}
          <a href="/docs" target="_blank" rel="noreferrer" className="text-brand underline underline-offset-3">
            Documentação da API
          </a>
        </>
      }
    >
      {shared && (
        <div className="mb-6">
          <Notice tone="info" title="Esta conta é compartilhada: não tem chaves nem webhooks.">
            Para ligar um sistema seu, crie uma conta.
          </Notice>
        </div>
      )}
      <IntegrationSection
        id="chaves"
        title="Chaves de API"
        about="Um sistema que consulta ou envia usa uma chave, em vez do seu login. Cada uma pode só o que você permitir."
      >
        <Keys readOnly={shared} />
      </IntegrationSection>
      <IntegrationSection
        id="webhooks"
        title="Webhooks"
        about="Um endereço de outro sistema que é avisado quando algo muda, sem precisar perguntar."
      >
        <Webhooks readOnly={shared} />
      </IntegrationSection>
    </Page>
  )
}

interface IntegrationSectionProps {
  id: string
  title: string
  about: string
  children: ReactNode
}

function IntegrationSection({ id, title, about, children }: IntegrationSectionProps) {
  return (
    <section id={id} aria-labelledby={`${id}-titulo`} className="mb-12 scroll-mt-16">
      <h2 id={`${id}-titulo`} tabIndex={-1} className="text-lg outline-none">
        {title}
      </h2>
      <p className="mb-4 max-w-3xl text-muted">{about}</p>
      {children}
    </section>
  )
}
