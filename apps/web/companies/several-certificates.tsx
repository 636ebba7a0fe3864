import { addToBatch, startBatch } from '@vigia/contract/companies'
import { type PasswordList, readPasswordList } from '@vigia/contract/passwords'
import { formatCount, formatInteger } from '@vigia/contract/text'
import { FileSpreadsheet } from 'lucide-react'
import { type FormEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { call } from '../lib/api.ts'
import { notifyError } from '../lib/notify.ts'
import { actionMessage, dataOf } from '../lib/query.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field } from '../ui/form/field.tsx'
import { PasswordInput } from '../ui/form/password-input.tsx'
import { Textarea } from '../ui/form/textarea.tsx'
import { useGone } from '../ui/hooks/gone.ts'
import { Notice } from '../ui/notice.tsx'
import { countForCall, readText, sortFiles, toBase64 } from './batch-files.ts'

// Up to this number, passwords can be typed one by one.
const fewMax = 10

/** The chosen files, and the earlier list of passwords. */
export interface Chosen {
  files: readonly File[]
  list?: string
}

interface SeveralCertificatesProps {
  chosen: Chosen
  /** Called when all files are uploaded; the server continues alone. */
  onSent: (batchId: string, list: string) => void
  /** Back to one certificate. */
  onCancel: () => void
}

/** Uploads many certificates with a list of passwords; a few get a field each. */
export function SeveralCertificates({ chosen, onSent, onCancel }: SeveralCertificatesProps) {
  const { certificates, lists, left } = useMemo(() => sortFiles(chosen.files), [chosen.files])
  const withList = lists.length > 0 || certificates.length > fewMax || chosen.list?.includes('\n') === true
  const [list, setList] = useState(chosen.list ?? '')
  const [own, setOwn] = useState<Record<number, string>>({})
  const { send, sent, problem } = useSending(certificates, onSent)
  const busy = sent !== null
  const addLists = async (files: readonly File[]) => {
    const texts = await Promise.all(files.map(readText))
    setList((before) => [before.trimEnd(), ...texts].filter(Boolean).join('\n'))
  }
  const dropped = useRef<readonly File[]>(undefined)
  useEffect(() => {
    if (dropped.current === lists) return
    dropped.current = lists
    void addLists(lists)
  })
  const read = readPasswordList(list)
  const isReady = withList
    ? read.shared !== null || read.named.length > 0
    : list !== '' || certificates.every((_, index) => own[index])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !busy) void send(list, own)
  }
  return (
    <form className="grid content-start gap-5" noValidate onSubmit={submit}>
      <div>
        <h2 className="text-lg">{formatCount(certificates.length, 'certificado', 'certificados')}</h2>
        <p className="text-muted">
          Certificado de empresa já cadastrada é renovado; os demais cadastram a empresa. O CNPJ vem do certificado.
        </p>
      </div>
      {left.size > 0 && (
        <Notice
          tone="warning"
          title={formatCount([...left.values()].flat().length, 'arquivo fica de fora', 'arquivos ficam de fora')}
        >
          <ul className="grid max-h-40 gap-0.5 overflow-y-auto">
            {[...left].map(([why, names]) => (
              <li key={why} className="break-words">
                {why}: {names.join(', ')}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {withList ? (
        <ListField
          list={list}
          read={read}
          sending={busy}
          onChange={setList}
          onFiles={(files) => void addLists(files)}
        />
      ) : (
        <FewPasswords files={certificates} shared={list} own={own} sending={busy} onShared={setList} onOwn={setOwn} />
      )}
      {problem && (
        <Notice tone="error" title={problem.isPartial ? 'Nem tudo foi enviado' : 'Nada foi enviado'}>
          {problem.message}
          {problem.isPartial && ' O que já chegou ao servidor está sendo conferido; tente de novo para enviar o resto.'}
        </Notice>
      )}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" size="lg" busy={busy} disabled={!isReady || certificates.length === 0 || undefined}>
          {busy
            ? `Enviando ${formatInteger(sent)} de ${formatInteger(certificates.length)}...`
            : problem
              ? 'Tentar de novo'
              : 'Salvar Certificados'}
        </Button>
        <Button variant="outline" size="lg" disabled={busy} onClick={onCancel}>
          Cancelar
        </Button>
      </div>
    </form>
  )
}

// Uploads the files; closing the page before the end would lose some of them.
function useSending(files: readonly File[], onSent: SeveralCertificatesProps['onSent']) {
  const [sent, setSent] = useState<number | null>(null)
  const [problem, setProblem] = useState<{ message: string; isPartial: boolean }>()
  const isGone = useGone()
  const begun = useRef<{ id: string; list: string; sent: number }>(undefined)
  useEffect(() => {
    if (sent === null) return
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', onUnload)
    return () => removeEventListener('beforeunload', onUnload)
  }, [sent])
  const send = async (list: string, own: Record<number, string>) => {
    setProblem(undefined)
    // Files already sent with another list do not count.
    if (begun.current?.list !== list) begun.current = undefined
    setSent(begun.current?.sent ?? 0)
    try {
      if (!begun.current) {
        const body = { senhas: list, totalDeArquivos: files.length }
        begun.current = { id: dataOf(await call(startBatch, { body })).idLote, list, sent: 0 }
      }
      const batch = begun.current
      while (batch.sent < files.length) {
        const end = batch.sent + countForCall(files, batch.sent)
        const arquivos = await Promise.all(
          files.slice(batch.sent, end).map(async (file, offset) => ({
            nome: file.name,
            conteudo: await toBase64(file),
            senha: own[batch.sent + offset] || undefined,
          })),
        )
        const body = { arquivos, ultimos: end === files.length }
        dataOf(await call(addToBatch, { params: { id: batch.id }, body }))
        batch.sent = end
        setSent(end)
      }
      setSent(null)
      // Does not navigate a person who has left the screen: the bell shows the result.
      if (!isGone()) onSent(batch.id, list)
    } catch (error) {
      setSent(null)
      setProblem({ message: actionMessage(error), isPartial: (begun.current?.sent ?? 0) > 0 })
      if (isGone()) notifyError('Nem todos os certificados foram enviados', { description: actionMessage(error) })
    }
  }
  return { send, sent, problem }
}

interface ListFieldProps {
  list: string
  read: PasswordList
  /** They stay as they are, with the focus, while they are on their way. */
  sending: boolean
  onChange: (list: string) => void
  onFiles: (files: File[]) => void
}

function ListField({ list, read, sending, onChange, onFiles }: ListFieldProps) {
  const id = useId()
  return (
    <div className="grid gap-2">
      <Field
        label="Senhas"
        help="Uma linha para cada certificado: CNPJ;senha. Cole de uma planilha, ou escolha um arquivo CSV. Uma senha sozinha vale para todos."
      >
        {(control) => (
          <Textarea
            {...control}
            rows={8}
            value={list}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            readOnly={sending}
            placeholder={'11.222.333/0001-81;senha da primeira\n44.555.666/0001-81;senha da segunda'}
            className="font-mono read-only:opacity-55"
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <label
          htmlFor={id}
          className={buttonClass({
            variant: 'outline',
            size: 'sm',
            className: 'cursor-pointer has-focus-visible:outline-2 has-focus-visible:outline-brand',
          })}
        >
          <FileSpreadsheet aria-hidden className="size-4" />
          Escolher arquivo CSV
          <input
            id={id}
            type="file"
            accept=".csv,.txt,text/csv,text/plain"
            disabled={sending}
            className="sr-only"
            onChange={(event) => {
              onFiles([...(event.target.files ?? [])])
              event.target.value = ''
            }}
          />
        </label>
        <p role="status" className="min-w-0 text-muted text-sm">
          {listText(list, read)}
        </p>
      </div>
    </div>
  )
}

const shownLines = 10

function listText(list: string, { shared, named, unread }: PasswordList): string {
  if (list.trim() === '') return ''
  if (shared !== null) return 'Uma senha para todos.'
  const good = formatCount(named.length, 'linha com CNPJ e senha', 'linhas com CNPJ e senha')
  if (unread.length === 0) return `${good}.`
  const which = `${unread.slice(0, shownLines).join(', ')}${unread.length > shownLines ? '…' : ''}`
  return `${good}; ${unread.length === 1 ? `a linha ${which} não foi entendida` : `${formatInteger(unread.length)} não foram entendidas: ${which}`}.`
}

interface FewPasswordsProps {
  files: readonly File[]
  shared: string
  own: Record<number, string>
  sending: boolean
  onShared: (password: string) => void
  onOwn: (passwords: Record<number, string>) => void
}

function FewPasswords({ files, shared, own, sending, onShared, onOwn }: FewPasswordsProps) {
  return (
    <>
      <Field label="Senha para todos" help="Vale para os arquivos sem senha própria.">
        {(control) => (
          <PasswordInput
            {...control}
            value={shared}
            autoComplete="off"
            readOnly={sending}
            className="read-only:opacity-55"
            onChange={(event) => onShared(event.target.value)}
          />
        )}
      </Field>
      <ol className="border-line border-t">
        {files.map((file, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name, and the list never changes.
          <li key={index} className="grid gap-2 border-line border-b py-3 sm:grid-cols-[minmax(0,1fr)_15rem] sm:gap-4">
            <p className="min-w-0 break-words font-semibold">{file.name}</p>
            <PasswordInput
              aria-label={`Senha de ${file.name}`}
              placeholder={shared ? 'A mesma de todos' : 'Senha'}
              value={own[index] ?? ''}
              autoComplete="off"
              readOnly={sending}
              className="read-only:opacity-55"
              onChange={(event) => onOwn({ ...own, [index]: event.target.value })}
            />
          </li>
        ))}
      </ol>
    </>
  )
}
