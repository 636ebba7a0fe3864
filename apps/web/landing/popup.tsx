import type { ComponentProps, ReactNode } from 'react'

declare module 'react' {
  interface ButtonHTMLAttributes<T> {
    // The types of React do not have these two HTML attributes yet.
    command?: 'show-modal' | 'close'
    commandfor?: string
  }
}

interface PopupProps {
  id: string
  title: ReactNode
  children: ReactNode
}

/** A native dialog: a `PopupButton` opens it without script; any button in its form closes it. */
export function Popup({ id, title, children }: PopupProps) {
  return (
    <dialog
      id={id}
      aria-labelledby={`${id}-titulo`}
      closedby="any"
      className="open:fade-in m-auto max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-lg overflow-y-auto rounded bg-surface text-base text-ink shadow-float duration-150 backdrop:bg-overlay open:animate-in"
    >
      <form method="dialog">
        <h2 id={`${id}-titulo`} className="border-line border-b px-5 py-3.5 text-lg">
          {title}
        </h2>
        {children}
      </form>
    </dialog>
  )
}

/** The buttons at the end of a popup. */
export function PopupActions({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3.5">{children}</div>
}

interface PopupButtonProps extends Omit<ComponentProps<'button'>, 'onClick'> {
  /** Id of the popup. */
  opens: string
  /** Called instead of opening the popup, when scripts run. */
  instead?: () => void
}

export function PopupButton({ opens, instead, ...rest }: PopupButtonProps) {
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      command="show-modal"
      commandfor={opens}
      onClick={(event) => {
        if (instead) {
          event.preventDefault()
          return instead()
        }
        // Browsers before 2026 do not support `command`.
        const popup = 'command' in event.currentTarget ? null : document.getElementById(opens)
        if (popup instanceof HTMLDialogElement) popup.showModal()
      }}
      {...rest}
    />
  )
}
