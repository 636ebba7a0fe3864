import { addKey } from '@vigia/contract/keys'
import type { ReactNode } from 'react'
import { productName } from '../lib/site.ts'
import { Changes } from '../ui/changes.tsx'
import { useNamedSection } from '../ui/hooks/named-section.ts'
import { Page } from '../ui/page.tsx'
import { Keys } from './keys.tsx'
import { Webhooks } from './webhooks.tsx'

/** API keys and webhooks of the workspace. */
export function IntegrationsPage() {
  useNamedSection(true)
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
      <IntegrationSection
        id="chaves"
        title="Chaves de API"
        about="Um sistema que consulta ou envia usa uma chave, em vez do seu login. Cada uma pode só o que você permitir."
      >
        <Changes by={addKey}>
          <Keys />
        </Changes>
      </IntegrationSection>
      <IntegrationSection
        id="webhooks"
        title="Webhooks"
        about="Um endereço de outro sistema que é avisado quando algo muda, sem precisar perguntar."
      >
        <Webhooks />
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
