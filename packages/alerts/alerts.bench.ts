import { report } from '../../bench/measure.ts'
import { createArchive } from './archive.ts'
import { judge } from './judge.ts'
import { rules } from './rules.ts'
import { defaultSettings } from './settings.ts'
import { generate } from './support/generate.ts'

// Precision and recall of each rule on generated histories of two years, for several seeds. A rule is right where a case was planted for it; what
// fires elsewhere is wrong. `guarded`: how many innocent look-alikes stayed silent.
const seeds = [1, 2, 3, 4, 5]
const asOf = Date.parse('2027-01-31T00:00:00Z')

const counts = new Map(rules.map(({ id }) => [id, { right: 0, wrong: 0, missed: 0, guarded: 0, innocent: 0 }]))
const worst = new Map<string, { precision: number; recall: number }>()
let judged = 0
let ms = 0
for (const seed of seeds) {
  const { documents, must, maybe, innocent, groups } = generate(seed)
  const archive = createArchive(documents)
  const own = new Map(rules.map(({ id }) => [id, { right: 0, wrong: 0, missed: 0 }]))
  for (const facts of documents) {
    const history = archive.history(facts)
    const began = performance.now()
    const { fired } = judge(facts, history, { ...defaultSettings, asOf, groups })
    ms += performance.now() - began
    judged++
    const loud = new Set(fired.filter(({ learning }) => !learning).map(({ id }) => id))
    for (const [id, count] of counts) {
      const fires = loud.has(id)
      const wanted = must.get(facts.chave)!.includes(id)
      const each = own.get(id)!
      if (fires && wanted) {
        count.right++
        each.right++
      } else if (wanted) {
        count.missed++
        each.missed++
      } else if (fires && !maybe.get(facts.chave)!.includes(id)) {
        count.wrong++
        each.wrong++
      }
      if (innocent.get(facts.chave)!.includes(id)) {
        count.innocent++
        if (!fires) count.guarded++
      }
    }
  }
  for (const [id, { right, wrong, missed }] of own) {
    const before = worst.get(id) ?? { precision: 1, recall: 1 }
    worst.set(id, {
      precision: Math.min(before.precision, share(right, right + wrong)),
      recall: Math.min(before.recall, share(right, right + missed)),
    })
  }
}

for (const [id, { right, wrong, missed, guarded, innocent }] of counts)
  report('alerts', {
    rule: id,
    planted: right + missed,
    precision: share(right, right + wrong),
    recall: share(right, right + missed),
    worstSeed: worst.get(id),
    innocent: `${guarded}/${innocent}`,
  })
report('alerts', { seeds: seeds.length, documents: judged, verdictMicroseconds: Math.round((ms * 1000) / judged) })

function share(part: number, whole: number): number {
  return whole === 0 ? 1 : Number((part / whole).toFixed(3))
}
