import type { RouteDefinition } from '@vigia/contract/route'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useRefused } from '../lib/rights.ts'

interface ChangesProps {
  /** The call that the controls make. */
  by: RouteDefinition
  /** False where the note stands once for many controls. */
  noted?: boolean
  children: ReactNode
}

/** Controls of a call, switched off with a note beside them for a shared login that may not make it. */
export function Changes({ by, noted = true, children }: ChangesProps) {
  if (!useRefused(by)) return children
  return (
    <>
      {noted && <SharedNote by={by} />}
      <fieldset disabled className="contents">
        {children}
      </fieldset>
    </>
  )
}

/** Why the controls of a call are off; nothing where they are not. */
export function SharedNote({ by }: Pick<ChangesProps, 'by'>) {
  return useRefused(by) ? <SharedText /> : null
}

/** The note for a shared login. */
export function SharedText() {
  return (
    <p className="my-1.5 text-muted text-sm first:mt-0">
      Login compartilhado: o que está em cinza não muda aqui. Para mudar,{' '}
      <Link to="/register" className="text-brand underline underline-offset-3">
        crie uma conta
      </Link>
      .
    </p>
  )
}
