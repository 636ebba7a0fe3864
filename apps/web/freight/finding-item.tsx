import { type FreightFinding, markFreight } from '@vigia/contract/freight'
import { formatDate, formatInstantDate, formatMoney, formatTime } from '@vigia/contract/text'
import { desacordo } from '@vigia/dfe/families/cte'
import { familyOf } from '@vigia/dfe/families/lookup'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { Link } from 'react-router'
import { documentAddress } from '../lib/addresses.ts'
import { notifySuccess } from '../lib/notify.ts'
import { useAction } from '../lib/query.ts'
import { useMay } from '../lib/rights.ts'
import { Badge } from '../ui/badge.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { CompanyName } from '../ui/company-name.tsx'

const someone = 'alguém que não tem mais conta'

/** A freight finding, its documents and a person's mark. */
export function FindingItem({ finding }: { finding: FreightFinding }) {
  const { regra, nome, numero, emitente, valor, emissao, idEmpresa, empresa, frase, documentos, certo, desacordoAte } =
    finding
  const may = useMay('fiscal')
  const action = useAction(markFreight, { onSuccess: ({ message }) => notifySuccess(message) })
  const set = (isRight: boolean) => action.mutate({ body: { idDFe: finding.idDFe, regra, certo: isRight, frase } })
  const mayDispute = may && desacordoAte !== null && !certo
  const name = `CT-e ${numero} de ${emitente}, ${nome}`
  return (
    <li className="py-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={certo ? 'plain' : 'yellow'} icon={certo ? CircleCheck : CircleAlert}>
          {nome}
        </Badge>
        <h2 className="min-w-0 break-words font-semibold">
          <Link to={documentAddress(finding)} className="hover:underline hover:underline-offset-3">
            CT-e {numero} · {emitente}
          </Link>
        </h2>
        <span className="ml-auto font-semibold tabular-nums">{formatMoney(valor)}</span>
      </div>
      <p className="mt-0.5 text-muted text-sm tabular-nums">
        emitido em {formatDate(emissao)} · <CompanyName id={idEmpresa} name={empresa} />
        {desacordoAte && ` · desacordo até ${formatInstantDate(desacordoAte)}`}
      </p>
      <p className="mt-2 max-w-3xl break-words">{frase}</p>
      {documentos.length > 0 && <Behind documents={documentos} />}
      {certo && (
        <p className="mt-2 text-muted text-sm">
          Aceita por {certo.quem ?? someone}, em {formatInstantDate(certo.quando)} às {formatTime(certo.quando)}.
        </p>
      )}
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Link
          to={documentAddress(finding, mayDispute ? desacordo : undefined)}
          className={buttonClass({ variant: 'outline', size: 'sm' })}
        >
          {mayDispute ? 'Registrar desacordo' : 'Abrir CT-e'}
        </Link>
        {may && (
          <Changes by={markFreight} noted={false}>
            <Button
              variant="outline"
              size="sm"
              busy={action.isPending}
              aria-label={certo ? `Reabrir: ${name}` : `Aceitar cobrança: ${name}`}
              onClick={() => set(!certo)}
            >
              {certo ? 'Reabrir' : 'Aceitar cobrança'}
            </Button>
          </Changes>
        )}
      </div>
    </li>
  )
}

const shownFirst = 4

function Behind({ documents }: { documents: FreightFinding['documentos'] }) {
  const list = (some: typeof documents) => (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {some.map((document) => (
        <li key={document.chave} className="tabular-nums">
          <One document={document} />
        </li>
      ))}
    </ul>
  )
  return (
    <div className="mt-2 grid gap-1">
      {list(documents.slice(0, shownFirst))}
      {documents.length > shownFirst && (
        <details>
          <summary className="cursor-pointer text-muted text-sm">Mais {documents.length - shownFirst}</summary>
          {list(documents.slice(shownFirst))}
        </details>
      )}
    </div>
  )
}

function One({ document }: { document: FreightFinding['documentos'][number] }) {
  const { idDFe, tipoDFe, chave, numero, valor, emissao } = document
  const name = `${familyOf(tipoDFe).name} ${numero}`
  if (idDFe === null)
    return (
      <span className="text-muted" title={chave}>
        {name}, que não está aqui
      </span>
    )
  return (
    <Link to={documentAddress({ chave, idDFe })} className="text-brand underline underline-offset-3">
      {name}
      {emissao && `, ${formatDate(emissao)}`}
      {valor !== null && `, ${formatMoney(valor)}`}
    </Link>
  )
}
