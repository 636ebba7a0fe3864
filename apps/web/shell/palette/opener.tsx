import { Search } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { lazyWithPreload } from '../../lib/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { useScreenKeys } from '../../ui/hooks/screen-keys.ts'

const Palette = lazyWithPreload(() => import('./palette.tsx').then((module) => module.Palette))
const KeysHelp = lazyWithPreload(() => import('./keys-help.tsx').then((module) => module.KeysHelp))

/** Button and keys for the palette, and the key for the list of keys. */
export function PaletteOpener({ onIntent }: { onIntent: (path: string) => void }) {
  const [shown, setShown] = useState<'palette' | 'keys' | null>(null)
  const [needed, setNeeded] = useState<ReadonlySet<string>>(new Set())
  const show = (what: 'palette' | 'keys') => {
    setNeeded((before) => new Set([...before, what]))
    setShown(what)
  }
  const close = () => setShown(null)
  useScreenKeys((key) => {
    if (key === '?') show('keys')
    return key === '?'
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      // Over something that is open nothing else opens.
      if (!document.querySelector('[role=dialog], [role=alertdialog]')) show('palette')
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  })
  const preload = () => void Palette.preload()
  return (
    <>
      <Button
        variant="ghost"
        size="icon"
        className="max-sm:hidden"
        aria-label="Busca rápida"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        title="Busca rápida: ir para uma tela, empresa, fornecedor ou nota (Ctrl+K). Todas as teclas: ?"
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => show('palette')}
      >
        <Search aria-hidden className="size-4" />
      </Button>
      <Suspense fallback={null}>
        {needed.has('palette') && (
          <Palette open={shown === 'palette'} onClose={close} onIntent={onIntent} onKeys={() => show('keys')} />
        )}
        {needed.has('keys') && <KeysHelp open={shown === 'keys'} onClose={close} />}
      </Suspense>
    </>
  )
}
