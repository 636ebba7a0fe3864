import type { ComponentType } from 'react'

/** A component whose code is fetched when it is needed. */
export interface Piece<P = object> {
  load: () => Promise<ComponentType<P>>
  /** The component, once its code is here. */
  arrived?: ComponentType<P>
}

export function piece<P>(fetchCode: Piece<P>['load']): Piece<P> {
  const one: Piece<P> = {
    load: async () => {
      one.arrived = await fetchCode()
      return one.arrived
    },
  }
  return one
}
