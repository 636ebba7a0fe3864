import { Badge, type Tone } from '../ui/badge.tsx'

const rows: [number: string, issuer: string, date: string, amount: string, tone: Tone, status: string][] = [
  ['10482', 'Papelaria Sol Nascente Ltda', '12/05', 'R$ 1.284,90', 'green', 'Confirmação'],
  ['773', 'Metalúrgica Três Irmãos S.A.', '12/05', 'R$ 38.410,00', 'blue', 'Ciência'],
  ['90211', 'Distribuidora Rio Claro', '11/05', 'R$ 6.072,35', 'yellow', 'Resumo'],
  ['5518', 'Transportes Serra Azul', '11/05', 'R$ 942,18', 'yellow', 'Autorizada'],
  ['2204', 'Embalagens Norte-Sul', '10/05', 'R$ 2.760,00', 'red', 'Cancelada'],
]

/** The list of the product, with invented documents and saying so. */
export function SampleList() {
  return (
    <figure className="relative -mt-14 rounded bg-surface px-5 pt-4 pb-2 text-base shadow-float sm:px-8 lg:-mt-24">
      <figcaption className="flex items-baseline justify-between gap-4 pb-3">
        <span className="font-semibold text-lg">Todas as Notas Fiscais</span>
        <span className="text-muted text-sm">Exemplo, com documentos inventados</span>
      </figcaption>
      <div className="ledger">
        {rows.map(([number, issuer, date, amount, tone, status]) => (
          <div
            key={number}
            className="grid grid-cols-[1fr_auto] items-center gap-x-4 border-line border-b py-2 tabular-nums last:border-b-0 sm:grid-cols-[4rem_1fr_4rem_8rem_8.5rem]"
          >
            <span className="font-semibold max-sm:hidden">{number}</span>
            <span className="truncate font-semibold sm:font-normal">{issuer}</span>
            <span className="text-muted max-sm:hidden">{date}</span>
            <span className="text-right">{amount}</span>
            <span className="max-sm:col-span-2 sm:text-right">
              <Badge tone={tone}>{status}</Badge>
            </span>
          </div>
        ))}
      </div>
    </figure>
  )
}
