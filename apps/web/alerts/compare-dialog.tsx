import type { Alert } from '@vigia/contract/alerts'
import { type DocumentDetail, getDocument } from '@vigia/contract/documents'
import { formatDate, formatMoney } from '@vigia/contract/text'
import { clsx } from 'clsx'
import { useState } from 'react'
import { Link } from 'react-router'
import { documentAddress } from '../lib/addresses.ts'
import { useScreenQuery } from '../lib/query.ts'
import { Badge } from '../ui/badge.tsx'
import { Checkbox } from '../ui/form/checkbox.tsx'
import { Field } from '../ui/form/field.tsx'
import { Select } from '../ui/form/select.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { compare, type Part } from './compare.ts'
import { bands, nameOf } from './words.ts'

type Reason = Alert['motivos'][number]
type Compared = Reason['comparados'][number]

interface CompareDialogProps {
  alert: Alert
  reason: Reason
  onClose: () => void
}

/** A document beside another one that a rule compared it with, and why. */
export function CompareDialog({ alert, reason: { frase, comparados: others }, onClose }: CompareDialogProps) {
  const [at, setAt] = useState(
    Math.max(
      0,
      others.findIndex(({ idDFe }) => idDFe !== null),
    ),
  )
  const [whole, setWhole] = useState(false)
  const other = others[at]!
  return (
    <Dialog open onClose={onClose} title="Comparar documentos" className="max-w-4xl">
      <div className="grid gap-4 overflow-y-auto px-5 py-4">
        <p className="font-semibold">{frase}</p>
        <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2">
          <Field label={`${nameOf(alert)} de ${alert.emitente}, ao lado de`}>
            {(control) => (
              <Select {...control} value={at} onChange={({ target }) => setAt(Number(target.value))}>
                {others.map((one, index) => (
                  <option key={one.chave} value={index}>
                    {nameOf(one)} de {one.emitente}
                    {one.emissao && ` · ${formatDate(one.emissao)}`}
                    {one.valor !== null && ` · ${formatMoney(one.valor)}`}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Checkbox
            label="Mostrar também o que é igual"
            checked={whole}
            onChange={({ target }) => setWhole(target.checked)}
          />
        </div>
        {other.idDFe === null ? (
          <p>
            O documento de chave {other.chave} não está entre os que você pode ver aqui, e por isso só o que está na
            lista acima é conhecido dele.
          </p>
        ) : (
          <SideBySide key={other.idDFe} alert={alert} other={{ ...other, idDFe: other.idDFe }} whole={whole} />
        )}
      </div>
    </Dialog>
  )
}

interface SideBySideProps {
  alert: Alert
  other: Compared & { idDFe: string }
  whole: boolean
}

function SideBySide({ alert, other, whole }: SideBySideProps) {
  const one = useScreenQuery(getDocument, { params: { idDfe: alert.idDFe } })
  const two = useScreenQuery(getDocument, { params: { idDfe: other.idDFe } })
  return (
    <Loaded query={one}>
      {(left: DocumentDetail) => (
        <Loaded query={two}>
          {(right: DocumentDetail) => {
            const parts = compare(left, right)
              .map((part) => ({ ...part, lines: part.lines.filter(({ differs }) => whole || differs) }))
              .filter(({ lines }) => lines.length > 0)
            return parts.length === 0 ? (
              <p>Nada do que os dois documentos dizem é diferente.</p>
            ) : (
              <Comparison alert={alert} other={other} parts={parts} />
            )
          }}
        </Loaded>
      )}
    </Loaded>
  )
}

function Comparison({ alert, other, parts }: Pick<SideBySideProps, 'alert' | 'other'> & { parts: Part[] }) {
  return (
    <table className="w-full table-fixed text-left text-sm">
      <caption className="sr-only">Os dois documentos lado a lado</caption>
      <thead>
        <tr className="border-line border-b [&>th]:py-2 [&>th]:pr-3 [&>th]:align-bottom [&>th]:font-semibold">
          <th scope="col" className="w-1/4">
            <span className="sr-only">Campo</span>
          </th>
          {[alert, other].map((document) => (
            <th key={document.idDFe} scope="col">
              {document === alert && <Badge tone={bands[alert.faixa].tone}>{bands[alert.faixa].label}</Badge>}
              <span className="block break-words">{document.emitente}</span>
              <Link to={documentAddress(document)} className="text-brand underline underline-offset-3">
                {nameOf(document)}
              </Link>
            </th>
          ))}
        </tr>
      </thead>
      {parts.map(({ title, lines }) => (
        <tbody key={title} className="[&>tr]:border-line [&>tr]:border-b">
          <tr>
            <th scope="rowgroup" colSpan={3} className="pt-3 pb-1 font-semibold text-muted">
              {title}
            </th>
          </tr>
          {lines.map(({ at, label, one, other, differs }) => (
            <tr key={at} className="[&>*]:break-words [&>*]:py-1.5 [&>*]:pr-3 [&>*]:align-top">
              <th scope="row" className="font-normal text-muted">
                {label}
              </th>
              <td className={clsx(differs && 'font-semibold')}>{one || '—'}</td>
              <td className={clsx(differs && 'font-semibold')}>{other || '—'}</td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  )
}
