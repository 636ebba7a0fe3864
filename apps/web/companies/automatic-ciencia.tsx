import type { CompanyDetail } from '@vigia/contract/companies'
import { listDocuments } from '@vigia/contract/documents'
import { formatCount, formatInstantDate, formatTime } from '@vigia/contract/text'
import { nfe } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import { type Control, useController } from 'react-hook-form'
import { Link } from 'react-router'
import { useScreenQuery } from '../lib/query.ts'
import { CompanyName } from '../ui/company-name.tsx'
import { Switch } from '../ui/form/switch.tsx'
import { Notice } from '../ui/notice.tsx'
import type { CompanyFields } from './company-form.ts'

/** Id of the element with the switch. */
export const cienciaId = 'ciencia'

interface AutomaticCienciaProps {
  control: Control<CompanyFields>
  companyId: string
  company: CompanyDetail
}

/** The only switch that sends events in the company's name: explains the effect before saving. */
export function AutomaticCiencia({ control, companyId, company }: AutomaticCienciaProps) {
  const { field } = useController({ control, name: 'ConfiguracoesNfe.ManifestarCienciaAutomaticamente' })
  const { cienciaAutomatica: wanted } = company
  return (
    <div id={cienciaId} className="scroll-mt-16 rounded border border-line bg-surface px-4 py-3">
      <Switch
        ref={field.ref}
        label="Manifestar Ciência Automaticamente"
        help="Quando chega só o resumo de uma nota contra a empresa, a Ciência da Operação é enviada em nome dela, e o XML completo é liberado. A Ciência não aceita a compra, mas fica registrada na SEFAZ e obriga a uma resposta final depois; desligada, você decide nota por nota."
        checked={field.value}
        onChange={field.onChange}
      />
      {wanted && (
        <p className="mt-2 pl-13 text-muted">
          Ligada por {wanted.por} em {formatInstantDate(wanted.desde)} às {formatTime(wanted.desde)}.
        </p>
      )}
      <p className="mt-2 pl-13 text-muted">
        As{' '}
        <Link to="/respostas" className="text-brand underline underline-offset-3">
          regras de resposta
        </Link>{' '}
        do workspace decidem antes: este botão vale para as notas que nenhuma delas alcança.
      </p>
      {field.value && !wanted && (
        <div className="mt-3">
          <Notice tone="warning" title="Ao salvar, a Ciência passa a ser enviada sozinha">
            <p>
              Ela vai para toda nota contra <CompanyName id={companyId} name={company.razaoSocial} /> que chegar só como
              resumo, e também para as que já chegaram e ainda estão no prazo, sem que alguém olhe cada uma.{' '}
              <SummaryCount companyId={companyId} />
            </p>
            <p>
              Isso inclui notas de fornecedores que você não conhece. Uma Ciência registrada não pode ser desfeita; a
              resposta final (Confirmação, Desconhecimento ou Operação não Realizada) continua com você. Até salvar,
              nada é enviado.
            </p>
          </Notice>
        </div>
      )}
    </div>
  )
}

function SummaryCount({ companyId }: { companyId: string }) {
  const query = { TipoDFe: nfe.code, IdEmpresa: companyId, Status: status.summary }
  const { data } = useScreenQuery(listDocuments, { query })
  if (!data) return 'Contando as notas que só têm resumo...'
  if (data.totalDeItens === undefined) return null
  return (
    <strong>
      {data.totalDeItens === 0
        ? 'Hoje nenhuma nota desta empresa está só com o resumo.'
        : `Hoje ${formatCount(data.totalDeItens, 'nota desta empresa está', 'notas desta empresa estão')} só com o resumo.`}
    </strong>
  )
}
