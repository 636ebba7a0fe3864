import { type CompanyDetail, removeCertificate } from '@vigia/contract/companies'
import { formatInstantDate, formatRelative, formatTime } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { type ReactNode, useState } from 'react'
import { hasEnded } from '../lib/capture.ts'
import { useCompanyText } from '../lib/companies.ts'
import { notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { daysLeft, validityOf, validityText } from './work-list.ts'

interface CertificateCardProps {
  companyId: string
  company: CompanyDetail
  now: Date
}

/** The certificate in use, its uploader and its uses. */
export function CertificateCard({ companyId, company, now }: CertificateCardProps) {
  const { certificado: certificate } = company
  const validity = validityOf(company)
  if (!certificate) {
    return validity ? (
      <dl className="[&_dt]:text-muted [&_dt]:text-sm">
        <CertificateFact label="Validade">
          <Until validity={validity} now={now} />
        </CertificateFact>
      </dl>
    ) : (
      <p>
        Não informado.{' '}
        {certificate === null && (
          <span className="text-muted">Sem certificado nada é consultado na SEFAZ; envie o arquivo abaixo.</span>
        )}
      </p>
    )
  }
  return (
    <div className="grid gap-3">
      <dl className="grid gap-2 [&_dt]:text-muted [&_dt]:text-sm">
        <CertificateFact label="Titular">
          <span className="break-words font-semibold">{certificate.titular}</span>
          <span className="block tabular-nums">{formatCnpj(certificate.cnpj)}</span>
        </CertificateFact>
        <CertificateFact label="Validade">
          <span className="tabular-nums">{formatInstantDate(certificate.validoDe)} a </span>
          <Until validity={certificate.validoAte} now={now} />
        </CertificateFact>
        <CertificateFact label="Emissor">
          <span className="break-words">{certificate.emissor}</span>
        </CertificateFact>
        <CertificateFact label="Enviado por">
          {certificate.enviadoPor}, em {momentText(certificate.enviadoEm)}
        </CertificateFact>
      </dl>
      <Uses uses={certificate.usos} now={now} />
      <p className="text-muted text-sm">
        Guardado cifrado. A senha não é mostrada de novo e o arquivo nunca é oferecido para download.
      </p>
      {certificate.deOutraEmpresa ? (
        <p className="text-muted text-sm">
          Foi enviado em outra empresa com a mesma raiz de CNPJ e serve para esta também. Para removê-lo, abra a empresa
          em que foi enviado.
        </p>
      ) : (
        <Removal companyId={companyId} company={company} />
      )}
    </div>
  )
}

function Until({ validity, now }: { validity: string; now: Date }) {
  const soon = (daysLeft(validity, now) ?? 0) <= 30
  return (
    <>
      <span className="tabular-nums">{formatInstantDate(validity)}</span>{' '}
      {hasEnded(validity, now) ? (
        <Badge tone="red">Vencido</Badge>
      ) : (
        <span className={soon ? 'font-semibold text-warning' : 'text-muted'}>{validityText(validity, now)}</span>
      )}
    </>
  )
}

type ShownCertificate = NonNullable<CompanyDetail['certificado']>

function CertificateFact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

const momentText = (instant: string) => `${formatInstantDate(instant)} às ${formatTime(instant)}`

type Use = ShownCertificate['usos'][number]

function Uses({ uses, now }: { uses: readonly Use[]; now: Date }) {
  const [last] = uses
  if (!last) return <p className="text-muted text-sm">Ainda não foi usado.</p>
  return (
    <details className="text-sm">
      <summary className="min-h-6 cursor-pointer rounded-control text-muted">
        Usado {formatRelative(last.quando, now)}. Ver {uses.length === 1 ? 'o uso' : `os últimos ${uses.length} usos`}
      </summary>
      <ol className="mt-1 max-h-64 overflow-y-auto border-line border-y">
        {uses.map((use, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two uses may be alike in everything.
          <li key={`${use.quando}-${index}`} className="border-line border-t py-1 first:border-t-0">
            <span className="tabular-nums">{momentText(use.quando)}</span>
            <span className="block break-words text-muted">
              {use.finalidade} · {use.servico}
            </span>
          </li>
        ))}
      </ol>
    </details>
  )
}

function Removal({ companyId, company }: Omit<CertificateCardProps, 'now'>) {
  const textOf = useCompanyText()
  const [asking, setAsking] = useState(false)
  const mayManage = useMay('administrador')
  const action = useAction(removeCertificate, {
    errorToast: false,
    onSuccess: ({ message }) => {
      setAsking(false)
      notifySuccess('Certificado removido', { description: message })
    },
  })
  if (!mayManage) return null
  return (
    <>
      <Button variant="danger" size="sm" className="justify-self-start" onClick={() => setAsking(true)}>
        Remover certificado
      </Button>
      <ConfirmDialog
        open={asking}
        title={`Remover o certificado de ${textOf(companyId, company.razaoSocial)}?`}
        confirm="Remover certificado"
        danger
        busy={action.isPending}
        onConfirm={() => action.mutate({ query: { id: companyId } })}
        onCancel={() => {
          setAsking(false)
          action.reset()
        }}
      >
        <p>
          Param a captura de NF-e e CT-e e o envio de manifestações desta empresa e de toda filial que usa este
          certificado, a não ser que haja outro com a mesma raiz de CNPJ.
        </p>
        <p>
          Os documentos já recebidos ficam. A SEFAZ guarda cada documento por cerca de três meses: o que chegar lá
          enquanto não houver certificado e passar desse tempo não chega mais aqui.
        </p>
        <p>A chave é apagada e não há como desfazer; para voltar, envie o arquivo e a senha de novo.</p>
        {action.error && (
          <Notice tone="error" title="O certificado não foi removido">
            {actionMessage(action.error)}
          </Notice>
        )}
      </ConfirmDialog>
    </>
  )
}
