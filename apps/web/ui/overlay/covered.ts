import { useSyncExternalStore } from 'react'

/** Whether a dialog or a panel covers the page. */
export function isCovered(): boolean {
  return document.body.hasAttribute(mark)
}

// Mark of react-remove-scroll, with which dialogs block scrolling of the page.
const mark = 'data-scroll-locked'

/** Calls `listener` when the page is covered or uncovered. Returns an unsubscribe function. */
export function watchCovered(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.body, { attributeFilter: [mark] })
  return () => observer.disconnect()
}

export function useCovered(): boolean {
  return useSyncExternalStore(watchCovered, isCovered)
}
