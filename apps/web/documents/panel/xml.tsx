import { useQuery } from '@tanstack/react-query'
import { type DocumentRow, downloadXml } from '@vigia/contract/documents'
import { Download } from 'lucide-react'
import { callBytes, errorMessage } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { FactsSkeleton } from './summary.tsx'
import { indentXml } from './xml-text.ts'

// Limit of displayed text, because more would slow down a phone.
const shownMax = 400_000

/** The XML, indented for reading; copying and saving give the original file. */
export function PanelXml({ row }: { row: DocumentRow }) {
  const xml = useQuery({
    queryKey: [downloadXml.path, row.idDfe],
    queryFn: async ({ signal }) => {
      const blob = await callBytes(downloadXml, { params: { idDfe: row.idDfe } }, { signal })
      const text = await blob.text()
      return { blob, text, lines: indentXml(text) }
    },
    staleTime: 60_000,
  })
  if (xml.error && !xml.data) {
    return (
      <div className="p-5">
        <Notice
          tone="error"
          title={`Erro: ${errorMessage(xml.error)}`}
          action={
            <Button variant="outline" size="sm" onClick={() => void xml.refetch()}>
              Tentar novamente
            </Button>
          }
        >
          O arquivo continua guardado; só não pôde ser mostrado agora.
        </Notice>
      </div>
    )
  }
  if (!xml.data) return <FactsSkeleton />
  const { blob, text, lines } = xml.data
  return (
    <div className="px-5 py-3 max-sm:px-4">
      <div className="flex items-center gap-2 pb-2">
        <p className="mr-auto text-muted text-sm">
          {row.notaCompleta
            ? 'Como a SEFAZ entregou; as quebras de linha são só para ler.'
            : 'É o resumo: o documento completo ainda não chegou.'}
        </p>
        <CopyButton text={text} label="Copiar o XML" className="pointer-coarse:size-10" />
        <Button
          variant="ghost"
          size="icon"
          aria-label="Salvar o XML"
          title="Salvar o XML"
          onClick={() => saveFile(blob, `${row.chave}.xml`)}
        >
          <Download aria-hidden className="size-4" />
        </Button>
      </div>
      <pre className="whitespace-pre-wrap break-words rounded-control bg-sunken p-3 font-mono text-xs [overflow-wrap:anywhere]">
        {lines.slice(0, shownMax)}
      </pre>
      {lines.length > shownMax && <p className="py-2 text-muted">O arquivo é maior: o resto está no download.</p>}
    </div>
  )
}
