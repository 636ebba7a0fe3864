import { useSyncExternalStore } from 'react'

/** Whether a dialog or a panel covers the page. */
export function isCovered(): boolean {
  return document.body.hasAttribute(mark)
}

// Dialogs block the scrolling of the page under them with react-remove-scroll, which leaves this mark.
const mark = 'data-scroll-locked'

/** Calls `listener` whenever the page is covered or uncovered. Returns a function that ends this. */
export function watchCovered(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.body, { attributeFilter: [mark] })
  return () => observer.disconnect()
}

export function useCovered(): boolean {
  return useSyncExternalStore(watchCovered, isCovered)
}
