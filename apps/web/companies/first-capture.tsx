import type { CompanyDetail } from '@vigia/contract/companies'
import { nfe } from '@vigia/dfe/families/nfe'
import { useEffect } from 'react'
import { Link } from 'react-router'
import { documentKinds } from '../lib/kinds.ts'
import { buttonClass } from '../ui/button.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { cienciaId } from './automatic-ciencia.tsx'
import { isMoving } from './capture-pace.ts'
import { ServiceCaptures, useCaptures } from './capture-panel.tsx'
import { CertificateNotice } from './certificate-notice.tsx'
import { certificateSection } from './work-list.ts'

interface FirstCaptureProps {
  companyId: string
  company: CompanyDetail
  /** The search of the list of companies to which 'Voltar' leads afterwards. */
  list: string | undefined
}

/** Progress of the first capture of a new company: expectation, arrivals and next steps. */
export function FirstCapture({ companyId, company, list }: FirstCaptureProps) {
  const captures = useCaptures(company)
  const now = useNow()
  useLeaving(companyId)
  const moving = isMoving(captures)
  const brought = captures.filter(({ ultimoNsu }) => Number(ultimoNsu) > 0).map(({ servico }) => servico)
  const { path: documents } = documentKinds[(brought.length === 1 && brought[0]) || nfe.id]
  const acknowledges = company.configuracaoNFe.manifestarCienciaAutomaticamente === true
  const edit = (hash?: string) => ({
    to: { hash: hash ?? '' },
    state: { list },
    replace: true,
  })
  return (
    // Bottom padding keeps the next buttons free of toasts on a phone.
    <div className="ledger @container grid gap-5 pt-4 max-md:pb-48">
      <CertificateNotice
        company={company}
        now={now}
        action={
          <Link {...edit(certificateSection)} className={buttonClass({ variant: 'outline', size: 'sm' })}>
            Enviar certificado
          </Link>
        }
      />
      <div className="grid max-w-[75ch] gap-2">
        <p>
          {moving && <span className="font-semibold">Você pode fechar esta página: a captura continua sem ela. </span>}A
          primeira captura pode trazer até cerca de três meses de documentos, ou nada, se o CNPJ ainda não usava o
          serviço da SEFAZ. O que passou de três meses já saiu de lá.
        </p>
        <p>
          Tudo o que a SEFAZ entregar é guardado. A Ciência automática está{' '}
          {acknowledges ? 'ligada' : 'desligada: nenhuma resposta é enviada em seu nome'}.{' '}
          <Link {...edit(cienciaId)} className="rounded-control font-semibold text-brand underline underline-offset-3">
            Configurar a Ciência
          </Link>
        </p>
      </div>
      <ServiceCaptures companyId={companyId} company={company} captures={captures} first />
      <div className="flex flex-wrap gap-3">
        <Link
          to={`${documents}?empresa=${companyId}&periodo=todos`}
          className={buttonClass({ variant: brought.length > 0 && !moving ? 'primary' : 'outline' })}
        >
          Ver os documentos desta empresa
        </Link>
        <Link to="/empresas/nova" className={buttonClass({ variant: 'outline' })}>
          Cadastrar outra empresa
        </Link>
        <Link {...edit()} className={buttonClass({ variant: 'ghost' })}>
          Editar esta empresa
        </Link>
      </div>
    </div>
  )
}

const leftKey = 'vigia.first-captures-left'

/** Whether the first capture's page was left in this tab: its address then shows the company. */
export function wasLeft(companyId: string): boolean {
  return leftOnes().includes(companyId)
}

function useLeaving(companyId: string) {
  useEffect(() => {
    const path = location.pathname
    return () => {
      if (location.pathname === path) return
      try {
        sessionStorage.setItem(leftKey, JSON.stringify([...new Set([...leftOnes(), companyId])].slice(-20)))
      } catch {
        // Then it is shown again.
      }
    }
  }, [companyId])
}

function leftOnes(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(leftKey) ?? '[]')
  } catch {
    return []
  }
}
