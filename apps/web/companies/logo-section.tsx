import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type CompanyDetail, getLogo, removeLogo, sendLogo } from '@vigia/contract/companies'
import { printDacte, printDanfe } from '@vigia/contract/document-files'
import { Image } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { callBytes } from '../lib/api.ts'
import { notifySuccess } from '../lib/notify.ts'
import { actionMessage, useAction } from '../lib/query.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { toLogo } from './logo-file.ts'

interface LogoSectionProps {
  companyId: string
  company: CompanyDetail
  hasLogo: boolean
}

/** The logo that is printed beside the name of a company on the documents that it issues. */
export function LogoSection({ companyId, company, hasLogo }: LogoSectionProps) {
  const client = useQueryClient()
  const button = useRef<HTMLButtonElement>(null)
  // PDFs that were opened before are cached and still have the old logo.
  const forgetForms = () => {
    for (const { path } of [printDanfe, printDacte]) client.removeQueries({ queryKey: [path] })
  }
  // Keeps the input from being garbage-collected while the person looks for a file.
  const asked = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string>()
  const sending = useAction(sendLogo, {
    errorToast: false,
    onSuccess: ({ message }) => {
      forgetForms()
      notifySuccess(message)
    },
    onError: (error) => setProblem(actionMessage(error)),
  })
  const removing = useAction(removeLogo, {
    errorToast: false,
    onSuccess: ({ message }) => {
      forgetForms()
      // The button that was pressed disappears, and with it the focus.
      button.current?.focus()
      notifySuccess(message)
    },
    onError: (error) => setProblem(actionMessage(error)),
  })
  const choose = async (file: File) => {
    setProblem(undefined)
    try {
      sending.mutate({ form: { IdEmpresa: companyId, Logo: await toLogo(file) } })
    } catch {
      setProblem('Este arquivo não é uma imagem que o navegador saiba abrir. Escolha um PNG, JPG ou WebP.')
    }
  }
  return (
    <section aria-labelledby="logotipo" className="ledger grid gap-3 py-4">
      <h2 id="logotipo" className="text-lg">
        Logotipo
      </h2>
      <p className="max-w-[70ch] text-muted">
        Sai ao lado do nome no DANFE e no DACTE que esta empresa emite, e nos das filiais dela que não têm um próprio.
      </p>
      <div className="flex flex-wrap items-center gap-4">
        <LogoPicture companyId={companyId} company={company} hasLogo={hasLogo} />
        <Button
          ref={button}
          variant="outline"
          size="sm"
          busy={sending.isPending}
          onClick={() => {
            asked.current = askForPicture((file) => void choose(file))
          }}
        >
          {hasLogo ? 'Trocar imagem' : 'Escolher imagem'}
        </Button>
        {hasLogo && (
          <Button
            variant="outline"
            size="sm"
            busy={removing.isPending}
            onClick={() => {
              setProblem(undefined)
              removing.mutate({ query: { id: companyId } })
            }}
          >
            Remover logotipo
          </Button>
        )}
      </div>
      {problem && (
        <Notice tone="error" title="O logotipo não foi alterado">
          {problem}
        </Notice>
      )}
    </section>
  )
}

// The input is not part of the page, whose only file field is that of the certificate.
function askForPicture(onChosen: (file: File) => void): HTMLInputElement {
  const input = document.createElement('input')
  input.type = 'file'
  input.accept = 'image/png,image/jpeg,image/webp'
  input.onchange = () => {
    const [file] = input.files ?? []
    if (file) onChosen(file)
  }
  input.click()
  return input
}

// About as high as on paper.
const frame = 'grid h-20 w-40 place-items-center rounded border border-line p-2'

function LogoPicture({ companyId, company, hasLogo }: LogoSectionProps) {
  const { data, error } = useQuery({
    queryKey: [getLogo.path, companyId],
    queryFn: ({ signal }) => callBytes(getLogo, { query: { id: companyId } }, { signal }),
    enabled: hasLogo,
  })
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!data) return
    const made = URL.createObjectURL(data)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  if (!hasLogo) {
    return (
      <span className={`${frame} border-dashed bg-surface`}>
        <Image aria-hidden className="size-6 text-muted" strokeWidth={1.5} />
      </span>
    )
  }
  return (
    // Paper is white in the dark theme too.
    <span style={{ background: 'white', color: 'black' }} className={frame}>
      {url && !error && (
        <img src={url} alt={`Logotipo de ${company.razaoSocial}`} className="max-h-full max-w-full object-contain" />
      )}
      {error && <span className="text-center text-sm">Não foi possível mostrar a imagem</span>}
    </span>
  )
}
