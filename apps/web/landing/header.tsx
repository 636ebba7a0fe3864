import { clsx } from 'clsx'
import { Menu, X } from 'lucide-react'
import { useState } from 'react'
import { shownWithPlans } from '../lib/site.ts'
import { buttonClass } from '../ui/button.tsx'
import { Logo } from '../ui/logo.tsx'
import { TrialWords } from './trial-words.tsx'

const anchors = [
  ['#beneficios', 'Benefícios'],
  ['#planos', 'Planos'],
  ['#depoimentos', 'Clientes'],
] as const

const menuId = 'menu'

export function Header({ productName }: { productName: string }) {
  return (
    <header className="night absolute inset-x-0 top-0 z-10 text-base text-ink">
      <div className="container-page flex h-16 items-center gap-1">
        <a
          href="/"
          className="mr-auto flex min-h-11 min-w-0 items-center gap-2.5 rounded-control font-semibold text-lg"
        >
          <Logo className="size-8" />
          <span className="truncate">{productName}</span>
        </a>
        <nav aria-label="Nesta página" className="flex items-center gap-1 max-md:hidden">
          {anchors.map(([href, label]) => (
            <a
              key={href}
              href={href}
              className={buttonClass({ variant: 'ghost', className: href === '#planos' ? shownWithPlans : '' })}
            >
              {label}
            </a>
          ))}
          <a href="/login" className={buttonClass({ variant: 'ghost' })}>
            Fazer Login
          </a>
          <a href="/register" className={buttonClass({ variant: 'outline', className: 'ml-2 bg-transparent!' })}>
            <TrialWords>Teste Grátis 7 dias</TrialWords>
          </a>
        </nav>
        <SmallMenu />
      </div>
    </header>
  )
}

// The browser opens and closes the menu; the script adds labels, and closes it after a link.
function SmallMenu() {
  const [open, setOpen] = useState(false)
  const Icon = open ? X : Menu
  return (
    <div className="md:hidden">
      <button
        type="button"
        popoverTarget={menuId}
        aria-label={open ? 'Fechar menu' : 'Abrir menu'}
        aria-expanded={open}
        aria-controls={menuId}
        className={buttonClass({ variant: 'ghost', size: 'icon', className: 'size-11!' })}
      >
        <Icon aria-hidden className="size-5" />
      </button>
      <nav
        id={menuId}
        popover="auto"
        aria-label="Menu"
        onToggle={(event) => setOpen(event.newState === 'open')}
        className="night open:fade-in inset-x-0 top-16 m-0 w-full border-line border-y bg-paper px-4 pt-2 pb-5 text-ink text-lg shadow-float duration-150 open:animate-in"
      >
        {[...anchors, ['/login', 'Fazer Login'] as const].map(([href, label], index) => (
          <a
            key={href}
            href={href}
            onClick={hideMenu}
            className={clsx(
              'flex min-h-12 items-center',
              index > 0 && 'border-line border-t',
              href === '#planos' && shownWithPlans,
            )}
          >
            {label}
          </a>
        ))}
        <a href="/register?tp=1" onClick={hideMenu} className={buttonClass({ size: 'lg', className: 'mt-3 w-full' })}>
          <TrialWords>Teste Grátis 7 dias</TrialWords>
        </a>
      </nav>
    </div>
  )
}

function hideMenu() {
  document.getElementById(menuId)?.hidePopover()
}
