export const windowSize = 5

/** Up to five page numbers centred on the current one, moved inwards at both ends. */
export function pageWindow(page: number, pageCount: number): number[] {
  const length = Math.min(windowSize, pageCount)
  const first = Math.max(1, Math.min(page - Math.floor(windowSize / 2), pageCount - length + 1))
  return Array.from({ length }, (_, index) => first + index)
}
