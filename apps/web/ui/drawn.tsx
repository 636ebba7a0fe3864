import { type ComponentType, lazy, useState } from 'react'
import type { Piece } from '../lib/piece.ts'

/**
 * A lazy component that is drawn at once when its code is here. React would show what stands for it even then, and for a third of a second
 * at least.
 */
export function drawn<P extends object>(piece: Piece<P>) {
  const Later = lazy(() => piece.load().then((Arrived) => ({ default: Arrived })))
  return function Drawn(props: P) {
    const [Here] = useState<ComponentType<P>>(() => piece.arrived ?? Later)
    return <Here {...props} />
  }
}
