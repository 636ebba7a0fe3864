import { BellRing, CloudDownload, FileCheck2, FileSpreadsheet } from 'lucide-react'
import { useNavigate } from 'react-router'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'

const promises = [
  [CloudDownload, 'Captura automática', 'A SEFAZ é consultada a cada hora, de dia e de noite.'],
  [FileCheck2, 'Manifestação de NFe e CTe', 'Ciência, confirmação e as outras respostas, com prazo à vista.'],
  [BellRing, 'Monitoramento em tempo real', 'O que chega da SEFAZ aparece na tela sozinho.'],
  [FileSpreadsheet, 'Relatórios', 'Contagens e somas por período, e exportação em XML, PDF e planilha.'],
] as const

export function WelcomeDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Bem-vindo ao ${productName}`}
      description="Falta um passo: cadastrar a primeira empresa com o certificado digital A1 dela."
    >
      <ul className="grid gap-3.5 overflow-y-auto px-5 py-5">
        {promises.map(([Icon, title, text]) => (
          <li key={title} className="flex gap-3">
            <Icon aria-hidden className="mt-0.5 size-4.5 shrink-0 text-brand" />
            <p>
              <span className="block font-semibold">{title}</span>
              <span className="text-muted">{text}</span>
            </p>
          </li>
        ))}
      </ul>
      <footer className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3.5">
        <Button variant="outline" onClick={onClose}>
          Fazer Depois
        </Button>
        <Button onClick={() => void navigate('/empresas/nova')}>Cadastrar Primeira Empresa</Button>
      </footer>
    </Dialog>
  )
}
