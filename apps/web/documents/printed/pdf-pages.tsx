import worker from 'pdfjs-dist/build/pdf.worker.min.mjs?url'
import { type ReactElement, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Document, Page, pdfjs } from 'react-pdf'
import 'react-pdf/dist/Page/TextLayer.css'
import { formatCount } from '@vigia/contract/text'
import { Minus, Plus } from 'lucide-react'
import { Button } from '../../ui/button.tsx'

pdfjs.GlobalWorkerOptions.workerSrc = worker

const options = {
  // Documents embed their fonts; system fonts would change them on every machine.
  useSystemFonts: false,
  // A document that is closed before it is rendered is no reason for a warning.
  verbosity: pdfjs.VerbosityLevel.ERRORS,
}
const zooms = [1, 1.25, 1.5, 2, 3]

interface PdfPagesProps {
  file: Blob
  loading: ReactElement
  onProblem: (message: string) => void
}

/** All pages of a PDF in container width, with a text layer for selection and screen readers. */
export function PdfPages({ file, loading, onProblem }: PdfPagesProps) {
  const box = useRef<HTMLElement>(null)
  const width = useRoom(box)
  const [pageCount, setPageCount] = useState(0)
  const [zoom, setZoom] = useState(0)
  const pages = Array.from({ length: pageCount }, (_, index) => index + 1)
  return (
    <>
      <section
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
        aria-label="Páginas do documento"
        aria-keyshortcuts="+ -"
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return
          if (event.key === '+' || event.key === '=') setZoom(Math.min(zoom + 1, zooms.length - 1))
          if (event.key === '-') setZoom(Math.max(zoom - 1, 0))
        }}
        className="min-h-0 flex-1 overflow-auto bg-sunken focus-visible:-outline-offset-2"
      >
        <Document
          file={file}
          options={options}
          suspense={false}
          loading={loading}
          error={loading}
          onLoadSuccess={(pdf) => setPageCount(pdf.numPages)}
          onLoadError={() =>
            onProblem(
              'O arquivo chegou, mas este navegador não conseguiu desenhá-lo. Use Download para abri-lo em outro programa.',
            )
          }
          className="flex w-fit min-w-full flex-col items-center gap-4 p-4 max-sm:p-2"
        >
          {width > 0 &&
            pages.map((number) => (
              <NearPage key={number} number={number} width={Math.min(width, 900) * (zooms[zoom] ?? 1)} room={box} />
            ))}
        </Document>
      </section>
      <footer className="flex items-center justify-between border-line border-t px-5 py-1.5">
        <p className="text-muted tabular-nums">{pageCount > 0 && formatCount(pageCount, 'página', 'páginas')}</p>
        <div className="flex items-center gap-1">
          <Button
            variant="ghost"
            size="icon"
            aria-label="Diminuir"
            disabled={zoom === 0}
            onClick={() => setZoom(zoom - 1)}
          >
            <Minus aria-hidden className="size-4" />
          </Button>
          <span className="w-11 text-center text-muted tabular-nums">{(zooms[zoom] ?? 1) * 100}%</span>
          <Button
            variant="ghost"
            size="icon"
            aria-label="Aumentar"
            disabled={zoom === zooms.length - 1}
            onClick={() => setZoom(zoom + 1)}
          >
            <Plus aria-hidden className="size-4" />
          </Button>
        </div>
      </footer>
    </>
  )
}

interface NearPageProps {
  number: number
  width: number
  room: RefObject<HTMLElement | null>
}

// Renders only pages near the viewport, because a phone lacks memory for thirty pictures.
function NearPage({ number, width, room }: NearPageProps) {
  const paper = useRef<HTMLDivElement>(null)
  const [near, setNear] = useState(number === 1)
  const [ratio, setRatio] = useState(Math.SQRT2)
  useEffect(() => {
    if (!paper.current) return
    const observer = new IntersectionObserver((entries) => setNear(entries.at(-1)?.isIntersecting ?? false), {
      root: room.current,
      rootMargin: '100% 0px',
    })
    observer.observe(paper.current)
    return () => observer.disconnect()
  }, [room])
  return (
    <div ref={paper} style={{ width, minHeight: width * ratio, background: 'white' }} className="shadow-float">
      {near && (
        <Page
          pageNumber={number}
          width={width}
          suspense={false}
          renderAnnotationLayer={false}
          loading=""
          onLoadSuccess={(page) => setRatio(page.originalHeight / page.originalWidth)}
        />
      )}
    </div>
  )
}

function useRoom(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setWidth(element.clientWidth - (window.innerWidth < 640 ? 16 : 32))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  return width
}
