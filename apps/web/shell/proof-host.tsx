import { Suspense, useState } from 'react'
import { lazyWithPreload } from '../lib/lazy.ts'
import { useProofWanted } from '../lib/proof.ts'

const ProofDialog = lazyWithPreload(() => import('./proof-dialog.tsx').then((module) => module.ProofDialog))

/** Asks who the person is when a call was refused for want of that; the code is loaded when it first happens. */
export function ProofHost() {
  const wanted = useProofWanted()
  const [needed, setNeeded] = useState(false)
  if (wanted && !needed) setNeeded(true)
  return <Suspense>{needed && <ProofDialog open={wanted} />}</Suspense>
}
