import type { Bar, DrawnRule, PageGraphics, TextRun } from './graphics.ts'

/** Sentences about texts that touch one another, cross a rule or leave the printed area; empty for a good form. */
export function layoutFaults(pages: readonly PageGraphics[]): string[] {
  return pages.flatMap((page, i) => pageFaults(page).map((fault) => `folha ${i + 1}: ${fault}`))
}

interface Box {
  word: TextRun
  left: number
  right: number
  top: number
  bottom: number
}

// Labels of the product table may be set in 5 points, everything else in 6 (MOC NF-e 7.0, Anexo II, 3.7).
const sizeMin = 5
// 2 mm, on every side (MOC NF-e 7.0, Anexo II, 3.6.2).
const marginMin = 5.6

function pageFaults(page: PageGraphics): string[] {
  const faults: string[] = quietZoneFaults(page)
  for (const run of page.runs) if (run.size < sizeMin) faults.push(`"${run.text}" is set in ${run.size} points`)
  const outside = (x: number, y: number) =>
    x < marginMin || y < marginMin || x > page.width - marginMin || y > page.height - marginMin
  for (const { x1, y1, x2, y2 } of page.rules) {
    if (outside(x1, y1) || outside(x2, y2))
      faults.push(`a rule at ${Math.round(x1)},${Math.round(y1)} leaves the sheet`)
  }
  for (const bar of page.bars) {
    if (outside(bar.x, bar.y) || outside(bar.x + bar.width, bar.y + bar.height)) faults.push('a bar leaves the sheet')
  }
  for (const { x, y, width, height } of page.pictures) {
    const inside = ({ x1, y1, x2, y2 }: DrawnRule) =>
      x1 < x + width && x2 > x && Math.max(y1, y2) > y && Math.min(y1, y2) < y + height
    if (outside(x, y) || outside(x + width, y + height)) faults.push('the logo leaves the sheet')
    if (page.rules.some(inside)) faults.push('the logo crosses a rule')
  }
  const boxes = page.runs.map((word): Box => {
    if (word.upwards) {
      return {
        word,
        left: word.x - 0.66 * word.size,
        right: word.x + 0.19 * word.size,
        top: word.baseline - word.width + 0.15,
        bottom: word.baseline - 0.15,
      }
    }
    const lead = word.text.length - word.text.trimStart().length
    return {
      word,
      left: word.x + (lead > 0 ? 0.25 * word.size * lead : 0) + 0.15,
      right: word.x + word.width - 0.15,
      top: word.baseline - 0.66 * word.size,
      bottom: word.baseline + 0.19 * word.size,
    }
  })
  for (const box of boxes) {
    if (outside(box.left, box.top) || outside(box.right, box.bottom)) {
      faults.push(`"${box.word.text}" leaves the sheet`)
    }
    for (const { x1, y1, x2, y2 } of page.rules) {
      const vertical = Math.abs(x1 - x2) < 0.01
      const [low, high] = vertical ? [Math.min(y1, y2), Math.max(y1, y2)] : [Math.min(x1, x2), Math.max(x1, x2)]
      const crosses = vertical
        ? x1 > box.left && x1 < box.right && low < box.bottom && high > box.top
        : y1 > box.top && y1 < box.bottom && low < box.right && high > box.left
      if (crosses) faults.push(`"${box.word.text}" crosses a rule at ${Math.round(x1)},${Math.round(y1)}`)
    }
    const isUnder = (bar: Bar) =>
      bar.x < box.right && bar.x + bar.width > box.left && bar.y < box.bottom && bar.y + bar.height > box.top
    if (page.bars.some(isUnder)) faults.push(`"${box.word.text}" stands on a bar code`)
    if (page.pictures.some(isUnder)) faults.push(`"${box.word.text}" stands on the logo`)
  }
  const sorted = boxes.toSorted((a, b) => a.top - b.top)
  for (let i = 0; i < sorted.length; i++) {
    const a = sorted[i]!
    for (let n = i + 1; n < sorted.length && sorted[n]!.top < a.bottom; n++) {
      const b = sorted[n]!
      if (b.left < a.right && a.left < b.right) faults.push(`"${a.word.text}" and "${b.word.text}" overlap`)
    }
  }
  return faults
}

// Ten modules of white at both ends of each bar code; a module is its narrowest bar.
function quietZoneFaults(page: PageGraphics): string[] {
  const faults: string[] = []
  const rows = Map.groupBy(
    page.bars.filter((bar) => bar.height > 20),
    (bar) => Math.round(bar.y),
  )
  for (const bars of rows.values()) {
    const module = Math.min(...bars.map((bar) => bar.width))
    const left = Math.min(...bars.map((bar) => bar.x)) - 10 * module + 0.1
    const right = Math.max(...bars.map((bar) => bar.x + bar.width)) + 10 * module - 0.1
    const { y, height } = bars[0]!
    for (const rule of page.rules) {
      const inside = rule.x1 === rule.x2 && rule.x1 > left && rule.x1 < right
      if (inside && Math.min(rule.y1, rule.y2) < y + height && Math.max(rule.y1, rule.y2) > y) {
        faults.push(`a rule at ${Math.round(rule.x1)} stands in the quiet zone of a bar code`)
      }
    }
    for (const run of page.runs) {
      const beside = run.x < right && run.x + run.width > left
      if (beside && run.baseline > y + 1 && run.baseline - 0.66 * run.size < y + height - 1) {
        faults.push(`"${run.text}" stands in the quiet zone of a bar code`)
      }
    }
  }
  return faults
}
