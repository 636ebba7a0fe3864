/** Up to five page numbers centred on the current one, moved inwards at both ends. */
export function pageWindow(page: number, pageCount: number, size = 5): number[] {
  const length = Math.min(size, pageCount)
  const first = Math.max(1, Math.min(page - Math.floor(size / 2), pageCount - length + 1))
  return Array.from({ length }, (_, index) => first + index)
}
