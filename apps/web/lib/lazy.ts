import { type ComponentType, lazy } from 'react'

/**
 * `React.lazy` whose code can be fetched before it is rendered. A failed `preload` says nothing: the code is fetched again when it is
 * rendered, and the error boundary shows what failed then.
 */
export function lazyWithPreload<P>(fetchCode: () => Promise<ComponentType<P>>) {
  let loaded: { default: ComponentType<P> } | undefined
  const load = async () => {
    loaded ??= { default: await fetchCode() }
    return loaded
  }
  return Object.assign(
    lazy(() => (loaded ? immediately(loaded) : load())),
    {
      preload: async () => {
        await load().catch(() => undefined)
      },
      isLoaded: () => loaded !== undefined,
    },
  )
}

// React renders the fallback first even for a promise that is resolved, and then keeps it for 300 ms. A thenable that calls back at once is
// rendered at once.
function immediately<T>(value: T): Promise<T> {
  const thenable: Pick<PromiseLike<T>, 'then'> = {
    // biome-ignore lint/suspicious/noThenProperty: React takes any thenable for the code of a lazy component.
    then: (onFulfilled) => onFulfilled?.(value) as never,
  }
  return thenable as Promise<T>
}
