import type { DocumentRow } from '@vigia/contract/documents'
import { getFreight } from '@vigia/contract/freight'
import { desacordo } from '@vigia/dfe/families/cte'
import { Link } from 'react-router'
import type { AnswerType } from '../../lib/answer-types.ts'
import { kindOf } from '../../lib/kinds.ts'
import { useScreenQuery } from '../../lib/query.ts'
import { useMay } from '../../lib/rights.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'

interface PanelFreightProps {
  row: DocumentRow
  /** Something speaks against a desacordo now. */
  isBarred: boolean
  onAnswer: (answer: AnswerType) => void
}

/** Findings in the freight bill, with a link to a desacordo that a person reads and sends. */
export function PanelFreight({ row, isBarred, onAnswer }: PanelFreightProps) {
  const { data, isPlaceholderData } = useScreenQuery(getFreight, { params: { idDFe: row.idDfe } })
  const may = useMay('fiscal')
  const answer = kindOf(row.chave).answers.find(({ code }) => code === desacordo)
  if (isPlaceholderData || !data) return null
  const open = data.filter(({ certo }) => certo === null)
  const [first] = open
  if (!first) return null
  const month = first.emissao.slice(0, 7)
  const params = new URLSearchParams({ de: month, ate: month, busca: first.cnpjEmitente })
  return (
    <Notice tone="warning" title={open.length === 1 ? first.nome : 'O frete não fecha'}>
      {open.map(({ regra, frase }) => (
        <p key={regra}>{frase}</p>
      ))}
      <div className="mt-2 flex flex-wrap gap-2">
        {answer && may && !isBarred && first.desacordoAte !== null && (
          <Button variant="outline" size="sm" onClick={() => onAnswer(answer)}>
            Registrar desacordo
          </Button>
        )}
        <Link to={`/fretes?${params}`} className={buttonClass({ variant: 'outline', size: 'sm' })}>
          Ver na auditoria
        </Link>
      </div>
    </Notice>
  )
}
