import type { ReactNode } from 'react'

interface EmptyProps {
  icon: ReactNode
  title: string
  children: ReactNode
  action?: ReactNode
}

/** Why it is empty, whether that is all right, and what can be done. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className="flex flex-col items-center gap-1 px-4 py-14 text-center">
      <div className="mb-2 text-line-strong [&_svg]:size-8 [&_svg]:stroke-[1.25]">{icon}</div>
      <p className="font-semibold text-lg">{title}</p>
      <div className="max-w-md text-muted">{children}</div>
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}
