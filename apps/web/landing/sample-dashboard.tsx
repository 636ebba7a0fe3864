import { clsx } from 'clsx'
import { Badge, type Tone } from '../ui/badge.tsx'
import { StateMark } from '../ui/state-mark.tsx'

const sampleNumbers = [
  ['Notas Fiscais (Mês)', '312'],
  ['CTe (Mês)', '48'],
  ['Total Documentos (Mês)', '360'],
  ['Empresas Cadastradas', '4'],
] as const

interface SampleRow {
  kind: 'NFe' | 'CTe'
  issuer: string
  chave: string
  amount: string
  tone: Tone
  status: string
  time: string
}

// CNPJs with letters, which no company has yet.
const rows: SampleRow[] = [
  {
    kind: 'NFe',
    issuer: 'Papelaria Sol Nascente Ltda',
    chave: '3526 11VI GIAS OL00 0120 5500 1000 0104 8210 0482 7715',
    amount: 'R$ 1.284,90',
    tone: 'yellow',
    status: 'Autorizada',
    time: '14:02',
  },
  {
    kind: 'NFe',
    issuer: 'Metalúrgica Três Irmãos S.A.',
    chave: '3526 11VI GIAT RS00 0187 5500 1000 0007 7310 0093 4402',
    amount: 'R$ 38.410,00',
    tone: 'blue',
    status: 'Ciência',
    time: '14:02',
  },
  {
    kind: 'CTe',
    issuer: 'Transportes Serra Azul',
    chave: '3526 11VI GIAT SA00 0154 5700 1000 0055 1810 0551 8036',
    amount: 'R$ 942,18',
    tone: 'yellow',
    status: 'Autorizada',
    time: '13:01',
  },
  {
    kind: 'NFe',
    issuer: 'Distribuidora Rio Claro',
    chave: '4126 11VI GIAR IO00 0199 5500 2000 0902 1110 0902 1174',
    amount: 'R$ 6.072,35',
    tone: 'green',
    status: 'Confirmação',
    time: '11:02',
  },
  {
    kind: 'NFe',
    issuer: 'Embalagens Norte-Sul',
    chave: '3526 11VI GIAN SU00 0131 5500 1000 0022 0410 0220 4658',
    amount: 'R$ 2.760,00',
    tone: 'red',
    status: 'Cancelada',
    time: '09:02',
  },
]

/** The dashboard with fictitious data, and a note about it. */
export function SampleDashboard() {
  return (
    <figure className="relative -mt-12 rounded bg-surface px-4 pt-4 pb-3 text-base shadow-float sm:px-8 lg:-mt-40">
      <figcaption className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1 pb-4">
        <span className="flex items-center gap-2">
          <StateMark state="waiting" />
          <span className="font-semibold">Capturando</span>
          <span className="text-muted tabular-nums">última consulta 14:02, próxima 15:02</span>
        </span>
        <span className="text-muted text-sm">Exemplo, com dados inventados</span>
      </figcaption>
      <dl className="ledger grid grid-cols-2 md:grid-cols-4">
        {sampleNumbers.map(([label, figure]) => (
          <div
            key={label}
            className="flex flex-col-reverse justify-end border-line border-b py-3 even:pl-4 md:pl-4 md:first:pl-0 even:border-l md:border-l md:first:border-l-0"
          >
            <dt className="text-muted text-sm">{label}</dt>
            <dd className="font-semibold text-2xl tabular-nums">{figure}</dd>
          </div>
        ))}
      </dl>
      <p className="pt-5 pb-2 font-semibold">
        Atividade Recente <span className="font-normal text-muted">· Últimos documentos processados hoje</span>
      </p>
      <ul className="border-line border-t">
        {rows.map((row, index) => (
          <SampleItem key={row.chave} row={row} fresh={index === 0} />
        ))}
      </ul>
    </figure>
  )
}

function SampleItem({
  row: { kind, issuer, chave, amount, tone, status, time },
  fresh,
}: {
  row: SampleRow
  fresh: boolean
}) {
  return (
    <li
      className={clsx(
        'grid grid-cols-[1fr_auto] items-center gap-x-4 border-line border-b py-2 tabular-nums last:border-b-0 max-sm:nth-[n+4]:hidden md:grid-cols-[3rem_1fr_8rem_8.5rem_3.5rem]',
        fresh && 'arrived [animation-delay:1.2s]',
      )}
    >
      <span className="max-md:hidden">
        <Badge tone="plain">{kind}</Badge>
      </span>
      <span className="min-w-0">
        <span className="block truncate font-semibold">{issuer}</span>
        <span className="block truncate text-muted text-xs">
          <span className="md:hidden">{`${kind} · ${time} · `}</span>
          <span className="font-mono">{chave}</span>
        </span>
      </span>
      <span className="text-right">{amount}</span>
      <span className="max-md:col-start-2 max-md:row-start-2 max-md:text-right md:pl-2">
        <Badge tone={tone} quiet={tone === 'yellow'}>
          {status}
        </Badge>
      </span>
      <span className="text-right text-muted max-md:hidden">{time}</span>
    </li>
  )
}
