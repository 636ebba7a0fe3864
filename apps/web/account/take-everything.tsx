import { listExports, takeEverything } from '@vigia/contract/document-files'
import type { RouteData } from '@vigia/contract/route'
import { formatInteger } from '@vigia/contract/text'
import { useState } from 'react'
import { notifySuccess } from '../lib/notify.ts'
import { useAction, useScreenQuery } from '../lib/query.ts'
import { hasPlans } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'

const busyMs = 2_000
const quietMs = 30_000

/** Asks for one archive of everything that the account keeps, and says how far it is. */
export function TakeEverything() {
  const [pdf, setPdf] = useState(false)
  const action = useAction(takeEverything, { onSuccess: ({ message }) => notifySuccess(message) })
  const { data: files = [] } = useScreenQuery(
    listExports,
    {},
    { refreshMs: (items) => (items?.some(({ tudo, situacao }) => tudo && isUnderWay(situacao)) ? busyMs : quietMs) },
  )
  const made = files.filter(({ tudo }) => tudo)
  const underWay = made.filter(({ situacao }) => isUnderWay(situacao))
  return (
    <div className="grid max-w-prose gap-4">
      <p>
        Um ZIP com todos os XML como a SEFAZ os entregou, os eventos, planilhas, a auditoria e as configurações
        {hasPlans && ', também com o teste ou o plano terminado'}. As chaves privadas dos certificados nunca vão junto.
      </p>
      <Checkbox
        label="Com os PDF (DANFE e DACTE); demora bem mais"
        checked={pdf}
        onChange={(event) => setPdf(event.currentTarget.checked)}
      />
      <Button
        variant="outline"
        className="justify-self-start"
        busy={action.isPending || underWay.length > 0}
        onClick={() => action.mutate({ body: { pdf } })}
      >
        {underWay.length > 0 ? 'Juntando tudo...' : 'Exportar todos os dados'}
      </Button>
      {made.length > 0 && (
        <p role="status" className="text-muted tabular-nums">
          {stateOf(made)}
        </p>
      )}
    </div>
  )
}

type File = RouteData<typeof listExports>[number]

const isUnderWay = (situacao: File['situacao']) => situacao === 'na-fila' || situacao === 'em-andamento'

function stateOf(files: readonly File[]): string {
  const sum = (of: 'feitos' | 'total') => formatInteger(files.reduce((all, file) => all + file[of], 0))
  if (files.some(({ situacao }) => isUnderWay(situacao)))
    return `${sum('feitos')} de ${sum('total')} arquivos da SEFAZ. Você pode sair desta página: o sino avisa quando ficar pronto.`
  if (files.some(({ situacao }) => situacao === 'falhou')) return 'Não ficou pronto: o sino diz por quê.'
  return 'Pronto: baixe pelo sino. Um download cortado continua de onde parou.'
}
