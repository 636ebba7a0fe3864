import { Link } from 'react-router'
import type { CompanyDetail } from '../lib/response-adapter.ts'
import { buttonClass } from '../ui/button.tsx'
import { cienciaId } from './automatic-ciencia.tsx'
import { isMoving } from './capture-pace.ts'
import { ServiceCaptures, useCaptures } from './capture-panel.tsx'

interface FirstCaptureProps {
  companyId: string
  company: CompanyDetail
  /** Where 'Voltar' leads afterwards. */
  back: string
}

/** What somebody sees who has just registered a company: what to expect, how far it is, what has come, and where to go on. */
export function FirstCapture({ companyId, company, back }: FirstCaptureProps) {
  const captures = useCaptures(company)
  const moving = isMoving(captures)
  const has = captures.some(({ ultimoNsu }) => Number(ultimoNsu) > 0)
  const acknowledges = company.configuracaoNFe.manifestarCienciaAutomaticamente === true
  const edit = (hash?: string) => ({
    to: { hash: hash ?? '' },
    state: { list: back.replace('/empresas', '') },
    replace: true,
  })
  return (
    <div className="ledger @container grid gap-5 pt-4">
      <div className="grid max-w-[75ch] gap-2">
        <p>
          {moving && <span className="font-semibold">Você pode fechar esta página: a captura continua sem ela. </span>}
          Ela pode trazer até cerca de três meses de documentos, ou nada, se o CNPJ ainda não usava o serviço da SEFAZ.
          O que passou de três meses já saiu de lá.
        </p>
        <p>
          Tudo o que a SEFAZ entregar é guardado. A Ciência automática está{' '}
          {acknowledges ? 'ligada' : 'desligada: nenhuma resposta é enviada em seu nome'}.{' '}
          <Link {...edit(cienciaId)} className="rounded-control font-semibold text-brand underline underline-offset-3">
            Escolher o que capturar
          </Link>
        </p>
      </div>
      <ServiceCaptures companyId={companyId} captures={captures} first />
      <div className="flex flex-wrap gap-3">
        <Link
          to={`/notas-fiscais?empresa=${companyId}&periodo=todos`}
          className={buttonClass({ variant: has && !moving ? 'primary' : 'outline' })}
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
