import type { CompanyDetail } from '@vigia/contract/companies'
import type { ReactNode } from 'react'
import { hasEnded } from '../lib/capture.ts'
import { Notice } from '../ui/notice.tsx'
import { validityOf } from './work-list.ts'

interface CertificateNoticeProps {
  company: CompanyDetail
  now: Date
  /** Leads to where a file is sent, when that is not below. */
  action?: ReactNode
}

/** Notice about an expired or refused certificate; else nothing. */
export function CertificateNotice({ company, now, action }: CertificateNoticeProps) {
  const where = action ? '' : ' abaixo'
  if (hasEnded(validityOf(company), now))
    return (
      <Notice tone="error" title="Certificado Digital Vencido!" action={action}>
        Venceu em {company.dataValidadeCertificadoDigital}. Sem renovação a sincronização com a SEFAZ não continua:
        envie o certificado renovado{where}. Os documentos já recebidos estão seguros.
      </Notice>
    )
  const refused = company.captura?.some(({ providencia }) => providencia === 'certificado')
  // On its page the captures say it, with the form below them.
  if (!refused || !action) return null
  return (
    <Notice tone="error" title="A captura espera um certificado" action={action}>
      O motivo está abaixo. Os documentos já recebidos estão seguros, e a captura continua quando outro certificado for
      enviado.
    </Notice>
  )
}
