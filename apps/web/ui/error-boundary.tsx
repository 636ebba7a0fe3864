import { Component, type ReactNode } from 'react'
import { Button } from './button.tsx'

/** Catches unexpected errors, most often a script of an older release that no longer exists. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override componentDidCatch(error: unknown) {
    console.error(error)
  }

  override render() {
    if (!this.state.failed) return this.props.children
    return (
      <main className="flex min-h-dvh flex-col items-center justify-center gap-4 px-6 text-center">
        <h1 className="text-xl">Não conseguimos abrir esta tela</h1>
        <p className="max-w-md text-muted">
          Nada foi perdido. Isso costuma acontecer quando uma versão nova acabou de ser publicada: recarregue a página.
        </p>
        <Button onClick={() => location.reload()}>Recarregar a página</Button>
      </main>
    )
  }
}
