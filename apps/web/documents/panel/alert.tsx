import { getAlert } from '@vigia/contract/alerts'
import type { DocumentRow } from '@vigia/contract/documents'
import { Link } from 'react-router'
import { useScreenQuery } from '../../lib/query.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { alertWords } from '../row-parts.tsx'

/** Why the document looks wrong, with the way to its alert. */
export function PanelAlert({ row: { idDfe, alerta } }: { row: DocumentRow }) {
  const { data } = useScreenQuery(getAlert, { params: { idDFe: idDfe } }, { enabled: Boolean(alerta) })
  if (!alerta) return null
  return (
    <Notice
      tone={alerta === 'critico' ? 'error' : alerta === 'alto' ? 'warning' : 'info'}
      title={alertWords(alerta)}
      action={
        <Link to={`/alertas?documento=${idDfe}`} className={buttonClass({ variant: 'outline', size: 'sm' })}>
          Ver alerta
        </Link>
      }
    >
      {data?.idDFe === idDfe && data.motivos.map(({ regra, frase }) => <p key={regra}>{frase}</p>)}
    </Notice>
  )
}
