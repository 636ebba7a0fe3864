import { listDocuments } from '@vigia/contract/documents'
import { useEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { documentAddress } from '../../lib/addresses.ts'
import { kindOf } from '../../lib/kinds.ts'
import { read } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { cameraProblem, chaveIn, createBarCodeReader } from './bar-code.ts'

const lookMs = 200
const patienceMs = 15_000

/** Scans the bar code of a DANFE or DACTE with the camera and opens its document. */
export function CameraDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Ler código de barras"
      description="Aponte para o código de barras do DANFE ou do DACTE."
    >
      <Viewfinder onClose={onClose} />
    </Dialog>
  )
}

function Viewfinder({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const video = useRef<HTMLVideoElement>(null)
  const [attempt, setAttempt] = useState(1)
  const [state, setState] = useState<{ hint?: string; problem?: string }>({})
  const leave = useRef(onClose)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt begins anew.
  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    const look = async () => {
      const chave = await findChave(video.current!, (hint) => setState({ hint }), signal)
      setState({ hint: 'Código lido. Procurando o documento…' })
      const address = await addressFor(chave, signal)
      if (signal.aborted) return
      leave.current()
      void navigate(address)
    }
    look().catch((error) => signal.aborted || setState({ problem: cameraProblem(error) }))
    return () => ending.abort()
  }, [attempt])
  const again = () => {
    setState({})
    setAttempt(attempt + 1)
  }
  return (
    <div className="grid gap-3 overflow-y-auto px-5 py-4">
      {state.problem ? (
        <Notice
          tone="error"
          title={state.problem}
          action={
            <Button variant="outline" size="sm" onClick={again}>
              Tentar de novo
            </Button>
          }
        />
      ) : (
        <>
          {/* Wide, as the codes are. */}
          <video ref={video} muted playsInline className="aspect-video w-full rounded bg-sunken object-cover" />
          <p role="status" className="min-h-5 text-muted">
            {state.hint ?? 'Abrindo a câmera…'}
          </p>
        </>
      )}
    </div>
  )
}

/** Waits for a picture with a chave and gives hints. Turns the camera off at the end. */
async function findChave(video: HTMLVideoElement, say: (hint: string) => void, signal: AbortSignal): Promise<string> {
  const reader = createBarCodeReader()
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: 'environment', width: { ideal: 1920 }, height: { ideal: 1080 } },
  })
  try {
    signal.throwIfAborted()
    video.srcObject = stream
    await video.play()
    say('Procurando o código de barras…')
    const since = Date.now()
    for (;;) {
      const codes = await reader.detect(video)
      signal.throwIfAborted()
      const chave = chaveIn(codes)
      if (chave) return chave
      if (codes.length > 0)
        say('Este código de barras não é o de uma chave de acesso. Aponte para o do DANFE ou do DACTE.')
      else if (Date.now() - since > patienceMs)
        say('Nenhum código encontrado ainda. Aproxime o papel, com mais luz, até o código caber na largura da imagem.')
      await new Promise((resolve) => setTimeout(resolve, lookMs))
    }
  } finally {
    for (const track of stream.getTracks()) track.stop()
  }
}

// The list explains a missing document, and is also opened when the lookup fails.
async function addressFor(chave: string, signal: AbortSignal): Promise<string> {
  const query = { TipoDFe: kindOf(chave).tipoDFe, CampoPesquisa: chave, PaginaAtual: 1 }
  const page = await read(listDocuments, { query }, { signal }).catch(() => null)
  const [only, ...others] = page?.items ?? []
  return documentAddress({ chave, idDFe: only && others.length === 0 ? String(only.idDfe) : undefined })
}
