import { quantile, report } from '../../../bench/measure.ts'
import { judge } from './judge.ts'
import { nameKeys, nameProbes, normalName } from './names.ts'
import { rules } from './rules.ts'
import { defaultSettings } from './settings.ts'
import { createArchive } from './support/archive.ts'
import { randomOf } from './support/facts.ts'
import { asOf, generate, randomName } from './support/generate.ts'

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
report('alerts', { seeds: seeds.length, documents: judged, verdictCpuMicroseconds: Math.round(cpuUs / judged) })

// Twenty thousand names of suppliers: how many share a key with a disguised one, and whether the one that it imitates is among them.
const random = randomOf(1)
const known = new Set<string>()
while (known.size < 20_000) known.add(normalName(randomName(random)))
const byKey = Map.groupBy(
  [...known].flatMap((name) => nameKeys(name).map((key) => ({ key, name }))),
  ({ key }) => key,
)
const candidates: number[] = []
let missed = 0
for (const name of [...known].slice(0, 1_000)) {
  const place = 2 + Math.floor(random() * (name.length - 4))
  const disguised = name.slice(0, place) + name[place + 1] + name[place] + name.slice(place + 2)
  const found = new Set(nameProbes(disguised).flatMap((probe) => byKey.get(probe)?.map((row) => row.name) ?? []))
  candidates.push(found.size)
  if (!found.has(name)) missed++
}
report('alerts', {
  names: known.size,
  disguised: candidates.length,
  missed,
  candidates: { p50: quantile(candidates, 0.5), p95: quantile(candidates, 0.95), max: Math.max(...candidates) },
})

function share(part: number, whole: number): number {
  return whole === 0 ? 1 : Number((part / whole).toFixed(3))
}
