import { getAccount, logout } from '@vigia/contract/accounts'
import { clsx } from 'clsx'
import { LogOut, PanelLeft, UserRound } from 'lucide-react'
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { Navigate, useLocation } from 'react-router'
import { call } from '../lib/api.ts'
import { contactHash } from '../lib/contact.ts'
import { lazyWithPreload } from '../lib/lazy.ts'
import { dismissNotifications } from '../lib/notify.ts'
import { useScreenQuery, whenIdle } from '../lib/query.ts'
import { closeSession, useSession } from '../lib/session.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { useMedia } from '../ui/hooks/narrow.ts'
import { lazyWithTrigger } from '../ui/overlay/lazy-with-trigger.tsx'
import { TitlePlace } from '../ui/page.tsx'
import { Bell } from './bell.tsx'
import { ConnectionNotice } from './connection-notice.tsx'
import { EmailNotice } from './email-notice.tsx'
import { useFeedbackSurvey } from './feedback-survey.ts'
import { Navigation } from './navigation.tsx'
import { PaletteOpener } from './palette/opener.tsx'
import { PlanNotice } from './plan-notice.tsx'
import { ProofHost } from './proof-host.tsx'
import { useRealTime } from './real-time.ts'
import { useScreenPlace } from './screen-place.ts'
import { readSidebarOpen, sidebarCookie } from './sidebar-state.ts'
import { WatchLamp } from './watch-link.tsx'

const UserMenu = lazyWithTrigger('menu', () => import('./user-menu.tsx').then((module) => module.UserMenu))
const Sheet = lazyWithPreload(() => import('../ui/overlay/sheet.tsx').then((module) => module.Sheet))
const preloadSheet = () => void Sheet.preload()
// Few people are in several workspaces, or may do nothing in this one.
const ChosenWorkspace = lazyWithPreload(() => import('./chosen-workspace.tsx').then((module) => module.ChosenWorkspace))
const AccessNotice = lazyWithPreload(() => import('./access-notice.tsx').then((module) => module.AccessNotice))

interface WorkspaceProps {
  /** Fetches the code of a screen, or of the contact form, that is about to be opened. */
  preload: (path: string) => void
  children: ReactNode
}

/** The authenticated layout; without a session it redirects to /login. */
export function Workspace({ preload, children }: WorkspaceProps) {
  const { session, expired } = useSession()
  const location = useLocation()
  const [cameWithSession] = useState(session !== null)
  if (!session) {
    // After a logout the next login starts at the dashboard; after an expiry at the same screen.
    const left = cameWithSession && !expired
    return <Navigate to="/login" replace state={left ? {} : { from: location.pathname + location.search, expired }} />
  }
  return <Layout preload={preload}>{children}</Layout>
}

function Layout({ preload, children }: WorkspaceProps) {
  const { data: account } = useScreenQuery(getAccount, {})
  const sidebar = useSidebar()
  const main = useScreenPlace()
  useEffect(() => whenIdle(Sheet.preload), [])
  const [reading, setReading] = useState(false)
  useRealTime(reading)
  useFeedbackSurvey()
  return (
    <div className="flex min-h-dvh">
      <a
        href="#conteudo"
        className="absolute top-2 left-2 z-50 -translate-y-16 rounded-control bg-brand px-3 py-2 font-semibold text-brand-ink focus:translate-y-0"
      >
        Ir para o conteúdo
      </a>
      <ProofHost />
      <aside
        aria-label="Navegação"
        className={clsx(
          'night print:hidden sticky top-0 h-dvh shrink-0 overflow-hidden bg-paper text-ink transition-[width] duration-180 max-md:hidden',
          sidebar.open ? 'w-64' : 'w-12',
        )}
      >
        <Navigation collapsed={!sidebar.open} onIntent={preload} />
      </aside>
      <Suspense fallback={null}>
        {sidebar.sheetNeeded && (
          <Sheet open={sidebar.sheet} onClose={sidebar.closeSheet} title="Navegação">
            <Navigation onIntent={preload} onFollow={sidebar.closeSheet} />
          </Sheet>
        )}
      </Suspense>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="print:hidden sticky top-0 z-30 border-line border-b bg-paper">
          <div className="flex h-[calc(--spacing(12)-1px)] items-center gap-1 px-2 md:px-3">
            <Button
              variant="ghost"
              size="icon"
              aria-label="Alternar navegação"
              aria-keyshortcuts="Control+B Meta+B"
              title="Alternar navegação (Ctrl+B)"
              onPointerEnter={preloadSheet}
              onFocus={preloadSheet}
              onClick={sidebar.toggle}
            >
              <PanelLeft aria-hidden className="size-4" />
            </Button>
            <p className="min-w-0 truncate px-1 text-muted">
              Sistema <span className="font-semibold text-ink">{productName}</span>
            </p>
            {account?.outrosWorkspaces && (
              <Suspense fallback={null}>
                <ChosenWorkspace name={account.workspace} />
              </Suspense>
            )}
            <TitlePlace />
            <div className="md:hidden">
              <WatchLamp />
            </div>
            <PaletteOpener onIntent={preload} />
            <Bell open={reading} onOpenChange={setReading} />
            <UserMenu
              onIntent={preload}
              trigger={
                <Button variant="ghost" size="sm">
                  <UserRound aria-hidden className="size-4" />
                  <span className="max-sm:sr-only">Usuário</span>
                </Button>
              }
            />
            <Button variant="ghost" size="sm" onClick={signOut}>
              <LogOut aria-hidden className="size-4" />
              <span className="max-sm:sr-only">Sair</span>
            </Button>
          </div>
          <ConnectionNotice />
        </header>
        <main id="conteudo" ref={main} tabIndex={-1} className="flex-1 scroll-mt-12 outline-none">
          <EmailNotice />
          {(account?.faltaSegundoFator || account?.acessoEncerrado) && (
            <Suspense fallback={null}>
              <AccessNotice account={account} />
            </Suspense>
          )}
          <PlanNotice onIntent={() => preload(contactHash)} />
          <Suspense fallback={null}>{children}</Suspense>
        </main>
      </div>
    </div>
  )
}

function signOut() {
  // Deletes the token here, whatever the server responds to the call that ends the session.
  call(logout, {}).catch(() => undefined)
  closeSession()
  dismissNotifications()
}

function useSidebar() {
  const roomy = useMedia('(width >= 64rem)')
  const [wide, setWide] = useState(() => readSidebarOpen(document.cookie))
  // On narrow screens it is folded until opened, which is not remembered.
  const [unfolded, setUnfolded] = useState(false)
  if (roomy && unfolded) setUnfolded(false)
  const open = roomy ? wide : unfolded
  const [sheet, setSheet] = useState(false)
  const [sheetNeeded, setSheetNeeded] = useState(false)
  if (sheet && !sheetNeeded) setSheetNeeded(true)
  const toggle = () => {
    if (!matchMedia('(width >= 48rem)').matches) return setSheet((shown) => !shown)
    if (!roomy) return setUnfolded(!unfolded)
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in half of the browsers.
    document.cookie = sidebarCookie(!wide)
    setWide(!wide)
  }
  const latest = useRef(toggle)
  useEffect(() => {
    latest.current = toggle
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'b' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      latest.current()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return { open, sheet, sheetNeeded, toggle, closeSheet: () => setSheet(false) }
}
