import type { ReactNode } from 'react'
import { shownWithoutPlans, shownWithPlans } from '../lib/site.ts'

/** The label of a link to the sign-up: it names the trial only where there is one. */
export function TrialWords({ children }: { children: ReactNode }) {
  return (
    <>
      <span className={shownWithPlans}>{children}</span>
      <span className={shownWithoutPlans}>Criar conta</span>
    </>
  )
}
