import { report } from '../../../bench/measure.ts'
import { judge } from './judge.ts'
import { rules } from './rules.ts'
import { defaultSettings } from './settings.ts'
import { createArchive } from './support/archive.ts'
import { asOf, generate } from './support/generate.ts'

// Precision and recall of each rule on generated histories of two years, for several seeds. A rule
// is right at a planted case and wrong elsewhere. `guarded`: silent innocent look-alikes.
const seeds = [1, 2, 3, 4, 5]
// S49 depends on a deadline, not on one document alone, and is not in `rules`.
const ids = [...rules.map(({ id }) => id), 'S49']

const counts = new Map(ids.map((id) => [id, { right: 0, wrong: 0, missed: 0, guarded: 0, innocent: 0 }]))
const worst = new Map<string, { precision: number; recall: number }>()
let judged = 0
let cpuUs = 0
for (const seed of seeds) {
  const { documents, must, maybe, innocent, groups } = generate(seed)
  const archive = createArchive(documents)
  const own = new Map(ids.map((id) => [id, { right: 0, wrong: 0, missed: 0 }]))
  for (const facts of documents) {
    const history = archive.history(facts)
    const began = process.cpuUsage()
    const { fired } = judge(facts, history, { ...defaultSettings, asOf, groups })
    const { user, system } = process.cpuUsage(began)
    cpuUs += user + system
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
const all = [...counts.values()]
const sum = (key: 'right' | 'wrong' | 'missed') => all.reduce((total, count) => total + count[key], 0)
const verdictCpuMicroseconds = Math.round(cpuUs / judged)
report('alerts', { seeds: seeds.length, documents: judged, verdictCpuMicroseconds }, [
  {
    what: `${ids.length} rules on generated histories of two years, ${seeds.length} seeds, ${judged} documents`,
    number: `precision ${share(sum('right'), sum('right') + sum('wrong'))}, recall ${share(sum('right'), sum('right') + sum('missed'))}`,
    against: 'planted cases and innocent look-alikes',
    goal: '1 and 1',
  },
  { what: 'verdict on one document', number: `${verdictCpuMicroseconds} µs of CPU`, against: '', goal: '' },
])

function share(part: number, whole: number): number {
  return whole === 0 ? 1 : Number((part / whole).toFixed(3))
}
