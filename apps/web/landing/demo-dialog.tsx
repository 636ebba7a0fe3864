import type { SiteSettings } from '@vigia/contract/site'
import { clsx } from 'clsx'
import { Check, Copy } from 'lucide-react'
import { useRef, useState } from 'react'
import { shownIfSet, shownIfUnset, shownWithoutPlans, shownWithPlans } from '../lib/site.ts'
import { buttonClass } from '../ui/button.tsx'
import { copyText } from '../ui/copy.ts'
import { ContactButton } from './contact-button.tsx'
import { Popup, PopupActions } from './popup.tsx'
import { TrialWords } from './trial-words.tsx'

export const demoId = 'demonstracao'

interface DemoDialogProps {
  demo: SiteSettings['demo']
  preloadContact: () => void
}

export function DemoDialog({ demo, preloadContact }: DemoDialogProps) {
  return (
    <Popup id={demoId} title="Obrigado pelo interesse">
      <div className={clsx('px-5 py-5', shownIfSet.demo)}>
        <p>
          A demonstração é o produto inteiro, numa conta que todos os visitantes dividem. Entre com este e-mail e esta
          senha:
        </p>
        <dl className="ledger mt-4">
          <Credential label="E-mail" text={demo?.email ?? ''} />
          <Credential label="Senha" text={demo?.senha ?? ''} />
        </dl>
        <p className="mt-4 text-muted">
          O que um visitante faz ali, os outros veem. Por isso não envie o certificado da sua empresa: para ele há a sua
          própria conta.
        </p>
      </div>
      <div className={clsx('px-5 py-5', shownIfUnset.demo)}>
        <p>
          Esta instalação não tem uma conta de demonstração.{' '}
          <span className={shownWithPlans}>
            Você pode experimentar por 7 dias com a sua empresa, sem pagar nada, ou pedir que alguém mostre o produto a
            você.
          </span>
          <span className={shownWithoutPlans}>Você pode pedir que alguém mostre o produto a você.</span>
        </p>
      </div>
      <PopupActions>
        <button type="submit" className={buttonClass({ variant: 'outline' })}>
          Fechar
        </button>
        <span className={shownIfUnset.demo}>
          <ContactButton preloadContact={preloadContact}>Pedir uma demonstração</ContactButton>
        </span>
        <a href="/login" className={buttonClass({ className: shownIfSet.demo })}>
          Acessar Demo
        </a>
        <a href="/register?tp=1" className={buttonClass({ className: shownIfUnset.demo })}>
          <TrialWords>Criar conta grátis</TrialWords>
        </a>
      </PopupActions>
    </Popup>
  )
}

function Credential({ label, text }: { label: string; text: string }) {
  const value = useRef<HTMLElement>(null)
  const [result, setResult] = useState<'copied' | 'failed'>()
  const Icon = result === 'copied' ? Check : Copy
  return (
    <div className="grid grid-cols-[4rem_1fr_auto] items-center gap-x-3 border-line border-b py-1.5">
      <dt className="text-muted">{label}</dt>
      <dd ref={value} className="min-w-0 select-all break-words py-1 font-mono">
        {text}
      </dd>
      <dd>
        <button
          type="button"
          onClick={async () => {
            const done = await copyText(text)
            setResult(done ? 'copied' : 'failed')
            // Selects the text: the person only has to press Ctrl+C.
            if (!done && value.current) getSelection()?.selectAllChildren(value.current)
          }}
          className={buttonClass({ variant: 'ghost', size: 'sm', className: 'noscript:hidden' })}
        >
          <Icon aria-hidden className={clsx('size-4', result === 'copied' ? 'text-success' : 'text-muted')} />
          {result === 'copied' ? 'Copiado' : 'Copiar'}
          <span className="sr-only">{label === 'Senha' ? ' a senha' : ' o e-mail'}</span>
        </button>
        {result === 'failed' && (
          <p role="status" className="text-error text-sm">
            Copie com Ctrl+C
          </p>
        )}
      </dd>
    </div>
  )
}
