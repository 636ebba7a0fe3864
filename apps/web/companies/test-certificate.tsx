import { downloadTestCertificate } from '@vigia/contract/companies'
import { Download, FlaskConical } from 'lucide-react'
import { useState } from 'react'
import { callBytes, errorMessage } from '../lib/api.ts'
import { site } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { saveFile } from '../ui/save-file.ts'

const certificateFileName = 'certificado-de-teste.pfx'

interface TestCertificateProps {
  disabled: boolean
  /** Fills in the file and the password for the person. */
  onUse: (file: File, password: string) => void
}

/** A fictitious company for people without a certificate; only with a simulated authority. */
export function TestCertificate({ disabled, onUse }: TestCertificateProps) {
  const password = site.senhaDoCertificadoDeTeste
  const [busy, setBusy] = useState<'save' | 'use'>()
  const [error, setError] = useState<string>()
  if (site.ambiente !== 'simulado' || !password) return null
  const take = async (what: 'save' | 'use') => {
    setBusy(what)
    setError(undefined)
    try {
      const bytes = await callBytes(downloadTestCertificate, {})
      if (what === 'save') saveFile(bytes, certificateFileName)
      else onUse(new File([bytes], certificateFileName, { type: bytes.type }), password)
    } catch (cause) {
      setError(errorMessage(cause))
    }
    setBusy(undefined)
  }
  return (
    <section aria-labelledby="teste" className="grid gap-2 rounded border border-info-line bg-info-soft px-4 py-3">
      <h2 id="teste" className="flex items-center gap-2 text-base">
        <FlaskConical aria-hidden className="size-4 text-info" />
        Só quer experimentar?
      </h2>
      <p>
        Esta instalação fala com uma SEFAZ simulada. Com o certificado de teste, de uma empresa inventada, você vê tudo
        funcionar em um minuto.
      </p>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button variant="outline" size="sm" busy={busy === 'use'} disabled={disabled} onClick={() => void take('use')}>
          Usar agora
        </Button>
        <Button variant="outline" size="sm" busy={busy === 'save'} onClick={() => void take('save')}>
          <Download aria-hidden className="size-3.5" />
          Baixar certificado de teste
        </Button>
        <span className="inline-flex items-center gap-1">
          Senha: <code className="font-mono">{password}</code>
          <CopyButton text={password} label="Copiar" />
        </span>
      </div>
      <p role="alert" className="text-error empty:hidden">
        {error && `Não foi possível buscar o certificado de teste (${error}). Tente de novo em instantes.`}
      </p>
    </section>
  )
}
