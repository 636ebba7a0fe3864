import { Suspense, useEffect, useState } from 'react'
import { lazyWithPreload } from '../lib/lazy.ts'
import { settleProof, useProofWanted } from '../lib/proof.ts'
import { whenIdle } from '../lib/query.ts'

const ProofDialog = lazyWithPreload(() => import('./proof-dialog.tsx').then((module) => module.ProofDialog))

/** Asks who the person is when a call was refused for want of that; the code is loaded when it first happens. */
export function ProofHost() {
  const wanted = useProofWanted()
  const [needed, setNeeded] = useState(false)
  if (wanted && !needed) setNeeded(true)
  // Without a connection it could not be loaded any more.
  useEffect(() => whenIdle(ProofDialog.preload), [])
  // The next person to log in must not be asked for this one's proof.
  useEffect(() => () => settleProof(false), [])
  return <Suspense>{needed && <ProofDialog open={wanted} />}</Suspense>
}
