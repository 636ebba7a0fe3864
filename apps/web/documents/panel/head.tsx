import { useMutation } from '@tanstack/react-query'
import { participationLabel } from '@vigia/contract/codes'
import { type DocumentDetail, type DocumentRow, downloadXml, listDocuments } from '@vigia/contract/documents'
import { listManifestations } from '@vigia/contract/manifestation'
import { markChecked } from '@vigia/contract/remarks'
import { formatDate, formatMoney } from '@vigia/contract/text'
import { cte, desacordo } from '@vigia/dfe/families/cte'
import { parseKey } from '@vigia/dfe/families/lookup'
import { ChevronDown, Download, FileText, ShieldCheck, ShieldQuestion } from 'lucide-react'
import { Link } from 'react-router'
import { supplierAddress } from '../../lib/addresses.ts'
import type { AnswerType } from '../../lib/answer-types.ts'
import { callBytes } from '../../lib/api.ts'
import { kindOf } from '../../lib/kinds.ts'
import { notifyError } from '../../lib/notify.ts'
import { actionFailure, useScreenQuery } from '../../lib/query.ts'
import { useMay } from '../../lib/rights.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Changes } from '../../ui/changes.tsx'
import { CompanyName } from '../../ui/company-name.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { GroupsOfFour } from '../../ui/groups-of-four.tsx'
import { useNow } from '../../ui/hooks/clock.ts'
import { Notice } from '../../ui/notice.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ManifestMenu } from '../manifestation/manifest-menu.tsx'
import { SavePdfButton } from '../printed/printed-form.tsx'
import { DeadlineText, OnItsWay } from '../row-parts.tsx'
import { StatusBadge } from '../status-marks.tsx'
import { PanelAlert } from './alert.tsx'
import { PanelFreight } from './freight.tsx'
import { type Action, recommend } from './recommendation.ts'
import { CheckedLine } from './remarks.tsx'
import { Unconfirmed } from './unconfirmed.tsx'

interface PanelHeadProps {
  row: DocumentRow | undefined
  detail: DocumentDetail | undefined
  /** The printed form is shown beside it. */
  wide: boolean
  onView: (row: DocumentRow) => void
  onAnswer: (answer: AnswerType, document: DocumentRow) => void
}

/** Issuer, status, deadline, recommendation and downloads of the document. */
export function PanelHead({ row, ...rest }: PanelHeadProps) {
  if (!row) return <HeadSkeleton />
  return <Head key={row.idDfe} row={row} {...rest} />
}

function Head({ row, detail, wide, onView, onAnswer }: PanelHeadProps & { row: DocumentRow }) {
  const kind = kindOf(row.chave)
  const now = useNow()
  const { data } = useScreenQuery(listManifestations, { params: { idDfe: row.idDfe } }, { refreshMs: 5_000 })
  const options = data?.idDfe === row.idDfe ? data.opcoes : undefined
  const last = data?.idDfe === row.idDfe ? data.eventos.findLast(({ situacao }) => situacao !== 'recusada') : undefined
  const unconfirmed = last?.situacao === 'sem-confirmacao' ? last : undefined
  const reasonAgainst = (code: number) => {
    const option = options?.find(({ tipoManifestacao }) => tipoManifestacao === code)
    return option && !option.permitida ? (option.impedimento ?? undefined) : undefined
  }
  const answer = (chosen: AnswerType) => onAnswer(chosen, row)
  const save = useSaveXml(row)
  return (
    <div className="grid shrink-0 gap-3 border-line border-b px-5 py-3.5 max-sm:px-4">
      <p className="break-words text-sm tabular-nums">
        {row.empresa && (
          <>
            <span className="font-semibold">
              <CompanyName id={row.idEmpresa} name={row.empresa} />
            </span>{' '}
            ·{' '}
          </>
        )}
        {participationLabel(row.tipoParticipacao)} · {`emitid${kind.ending}`} em {formatDate(row.dataEmissao)}
      </p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5">
        <StatusBadge row={row} inWords />
        <span className="text-sm">
          {row.eventoEmEnvio ? <OnItsWay event={row.eventoEmEnvio} /> : <DeadlineText prazo={row.prazo} now={now} />}
        </span>
        <span className="ml-auto font-semibold text-lg tabular-nums">{formatMoney(row.valor)}</span>
      </div>
      <div className="flex items-center gap-1">
        <GroupsOfFour text={row.chave} className="min-w-0 text-balance text-muted" />
        <CopyButton text={row.chave} label="Copiar a chave" className="shrink-0 pointer-coarse:size-10" />
      </div>
      {row.cnpjCpfEmitente && (
        <p className="text-sm">
          <Link to={supplierAddress(row.cnpjCpfEmitente)} className="text-brand underline underline-offset-3">
            Tudo de {row.emitente}
          </Link>
        </p>
      )}
      <PanelAlert row={row} />
      {kind.type === cte.id && (
        <PanelFreight row={row} isBarred={reasonAgainst(desacordo) !== undefined} onAnswer={answer} />
      )}
      {row.notaCompleta && row.conferencia?.confere !== false && (
        <p className="flex items-center gap-1.5 text-muted text-sm">
          {row.conferencia?.confere ? (
            <ShieldCheck aria-hidden className="size-4 shrink-0 text-success" />
          ) : (
            <ShieldQuestion aria-hidden className="size-4 shrink-0" />
          )}
          {row.conferencia?.texto ?? 'A assinatura digital deste documento ainda não foi conferida.'}
        </p>
      )}
      {row.conferencia?.confere === false && (
        <Notice tone="error" title={row.conferencia.texto}>
          O arquivo está guardado como a SEFAZ o entregou. Consulte a chave no portal da SEFAZ e fale com o emitente
          antes de pagar ou escriturar.
        </Notice>
      )}
      {unconfirmed && <Unconfirmed idDfe={row.idDfe} event={unconfirmed} />}
      <Changes by={markChecked}>
        <CheckedLine row={row} />
      </Changes>
      <Proposal row={row} detail={detail} wide={wide} onView={onView} onAnswer={answer} reasonAgainst={reasonAgainst} />
      <div className="flex flex-wrap gap-2">
        <ManifestMenu align="start" kind={kind} reasonAgainst={reasonAgainst} onChoose={answer} />
        <Button variant="outline" size="sm" busy={save.isPending} onClick={() => save.mutate()}>
          <Download aria-hidden className="size-4" />
          Download XML
        </Button>
        {row.notaCompleta && <SavePdfButton row={row}>Download PDF</SavePdfButton>}
      </div>
    </div>
  )
}

interface ProposalProps extends Omit<PanelHeadProps, 'row' | 'onAnswer'> {
  row: DocumentRow
  onAnswer: (answer: AnswerType) => void
  reasonAgainst: (code: number) => string | undefined
}

function Proposal({ row, detail, wide, onView, onAnswer, reasonAgainst }: ProposalProps) {
  const kind = kindOf(row.chave)
  const ofIssuer = useNotesOfIssuer(row)
  const mayAnswer = useMay('fiscal')
  const missing = detail?.falta ?? null
  if (ofIssuer === undefined || (!detail && !row.notaCompleta)) return <Skeleton className="h-20! rounded!" />
  const { title, text, actions } = recommend({ kind, document: row, missing, ofIssuer })
  const button = (action: Action) => {
    if (action.does === 'print') {
      return (
        <Button
          key="print"
          size="sm"
          variant={actions.length > 1 || wide ? 'outline' : 'primary'}
          onClick={() => onView(row)}
        >
          <FileText aria-hidden className="size-4" />
          {wide ? `Ampliar ${kind.form}` : `Ver ${kind.form}`}
        </Button>
      )
    }
    if (action.does === 'approvals')
      return (
        <Link key="approvals" to="/aprovacoes" className={buttonClass({ size: 'sm' })}>
          Ver o que aguarda
        </Link>
      )
    if (action.does === 'answers') {
      const trigger = (
        <Button size="sm">
          {action.label}
          <ChevronDown aria-hidden className="-mr-1 size-4" />
        </Button>
      )
      return (
        <ManifestMenu
          key="answers"
          align="start"
          kind={kind}
          reasonAgainst={reasonAgainst}
          onChoose={onAnswer}
          trigger={trigger}
        />
      )
    }
    const answer = kind.answers.find(({ code }) => code === action.code)
    if (!answer || !mayAnswer || reasonAgainst(action.code) !== undefined) return null
    return (
      <Button
        key={action.code}
        size="sm"
        variant={action.primary ? 'primary' : 'outline'}
        onClick={() => onAnswer(answer)}
      >
        {action.label}
      </Button>
    )
  }
  return (
    <section aria-label="O que fazer" className="border-ink border-l-2 pl-3">
      <h3 className="text-base">{title}</h3>
      <p className="text-muted">{text}</p>
      {actions.length > 0 && <div className="mt-2 flex flex-wrap gap-2">{actions.map(button)}</div>}
    </section>
  )
}

// Only needed for a summary that can be answered: how many notes of the same issuer this company has, not another company of the workspace.
// Null when the search does not find the note itself: then its chave has another CNPJ than the issuer's, as in notes of the Fisco.
function useNotesOfIssuer(row: DocumentRow): number | null | undefined {
  const matters = row.prazo?.para === 'ciencia' && !row.eventoEmEnvio && row.idEmpresa !== undefined
  const { tipoDFe: TipoDFe } = kindOf(row.chave)
  const query = { TipoDFe, IdEmpresa: row.idEmpresa, CampoPesquisa: parseKey(row.chave)?.issuer }
  const { data, error, isPlaceholderData } = useScreenQuery(listDocuments, { query }, { enabled: matters })
  if (!matters || error) return null
  return isPlaceholderData || !data ? undefined : data.totalDeItens || null
}

function useSaveXml(row: DocumentRow) {
  return useMutation({
    mutationFn: () => callBytes(downloadXml, { params: { idDfe: row.idDfe } }),
    onSuccess: (blob) => saveFile(blob, `${row.chave}.xml`),
    onError: (error) => notifyError(actionFailure(error)),
  })
}

function HeadSkeleton() {
  return (
    <div aria-hidden className="grid gap-4 border-line border-b px-5 py-4">
      <Skeleton className="h-5! w-40" />
      <Skeleton className="w-4/5" />
      <Skeleton className="h-20! rounded!" />
    </div>
  )
}
