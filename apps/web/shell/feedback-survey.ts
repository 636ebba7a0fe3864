import type { SiteSettings } from '@vigia/contract/site'
import { useEffect } from 'react'
import { site } from '../lib/site.ts'

// Section 7.
const timeoutMs = 10_000

/** The global object that the script of the feedback service creates. */
interface SurveyService {
  setup(options: { environmentId: string; appUrl: string }): Promise<void>
  logout?(): Promise<void>
}

/** Survey for logged-in people, if the installation has one; a loading failure is only logged. */
export function useFeedbackSurvey() {
  useEffect(() => (site.pesquisa ? openSurvey(site.pesquisa) : undefined), [])
}

function openSurvey({ endereco, ambiente }: NonNullable<SiteSettings['pesquisa']>): () => void {
  const script = document.createElement('script')
  const timer = setTimeout(() => fail('não chegou em 10 segundos'), timeoutMs)
  const service = () => (globalThis as typeof globalThis & { formbricks?: SurveyService }).formbricks
  const close = () => {
    clearTimeout(timer)
    // A removed script still runs when it arrives; one of another document does not.
    document.implementation.createHTMLDocument().adoptNode(script)
  }
  const fail = (reason: unknown) => {
    close()
    console.info('Erro ao carregar a pesquisa:', reason)
  }
  script.src = endereco
  script.async = true
  script.dataset.environmentId = ambiente
  script.onerror = () => fail('o endereço não respondeu')
  script.onload = async () => {
    clearTimeout(timer)
    try {
      await service()?.setup({ environmentId: ambiente, appUrl: new URL(endereco).origin })
    } catch (error) {
      fail(error)
    }
  }
  document.head.append(script)
  return () => {
    close()
    void service()?.logout?.()
  }
}
