import { Suspense, useEffect, useState } from 'react'
import { lazyWithPreload } from '../lib/lazy.ts'
import { settleProof, useProofWanted } from '../lib/proof.ts'
import { whenIdle } from '../lib/query.ts'

const ProofDialog = lazyWithPreload(() => import('./proof-dialog.tsx').then((module) => module.ProofDialog))

/** Asks for a proof of identity after a call was refused without one; loaded when idle. */
export function ProofHost() {
  const wanted = useProofWanted()
  const [needed, setNeeded] = useState(false)
  if (wanted && !needed) setNeeded(true)
  // Loaded early, because it could not be loaded without a connection.
  useEffect(() => whenIdle(ProofDialog.preload), [])
  // The next person to log in must not be asked for this one's proof.
  useEffect(() => () => settleProof(false), [])
  return <Suspense>{needed && <ProofDialog open={wanted} />}</Suspense>
}
