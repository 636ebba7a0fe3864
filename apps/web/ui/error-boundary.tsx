import { clsx } from 'clsx'
import { Component, type ReactNode } from 'react'
import { Button } from './button.tsx'

interface ErrorBoundaryProps {
  /** The layout around it stays. */
  inFrame?: boolean
  children: ReactNode
}

const retryMs = 1000
let wasOffline = false
globalThis.window?.addEventListener('offline', () => {
  wasOffline = true
})

/** Catches unexpected errors, usually a missing script: an older release, or no network. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failed: boolean; offline: boolean }> {
  override state = { failed: false, offline: false }
  #isGone = false

  static getDerivedStateFromError() {
    return { failed: true, offline: wasOffline || !navigator.onLine }
  }

  override componentDidCatch(error: unknown) {
    console.error(error)
    if (!this.state.offline) return
    // A page does not fetch a script again that did not come.
    if (navigator.onLine) this.#comeBack()
    else addEventListener('online', this.#comeBack)
  }

  override componentDidMount() {
    this.#isGone = false
  }

  override componentWillUnmount() {
    this.#isGone = true
    removeEventListener('online', this.#comeBack)
  }

  // Waits for the server, because browsers are online earlier, and a failed reload is final.
  readonly #comeBack = (): void => {
    fetch('/health').then(
      ({ ok }) => this.#reload(ok),
      () => this.#reload(false),
    )
  }

  #reload(isReachable: boolean) {
    if (this.#isGone) return
    if (isReachable) reload()
    else setTimeout(this.#comeBack, retryMs)
  }

  override render() {
    if (!this.state.failed) return this.props.children
    const Box = this.props.inFrame ? 'div' : 'main'
    return (
      <Box
        className={clsx(
          'flex flex-col items-center justify-center gap-4 px-6 text-center',
          this.props.inFrame ? 'py-24' : 'min-h-dvh',
        )}
      >
        <h1 className="text-xl">Não conseguimos abrir esta tela</h1>
        <p className="max-w-md text-muted">
          {this.state.offline
            ? 'Sem internet só abrem as telas já carregadas. Nada foi perdido: esta abre sozinha quando a conexão voltar.'
            : 'Nada foi perdido. Isso costuma acontecer quando uma versão nova acabou de ser publicada: recarregue a página.'}
        </p>
        {!this.state.offline && <Button onClick={reload}>Recarregar a página</Button>}
      </Box>
    )
  }
}

const reload = () => location.reload()
