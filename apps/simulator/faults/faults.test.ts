import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Clock, createClock } from '../clock.ts'
import { createRandom } from '../generate/random.ts'
import { createFaults, distributionOnly, type FaultName, type FaultOrder, faultStages } from './faults.ts'

const names = Object.keys(faultStages) as FaultName[]
const call = (of: 'distribution' | 'events') => ({ service: 'nfe', of, taxId: '12ABC34501DE35' }) as const

function struck(order: FaultOrder, seed: number, of: 'distribution' | 'events', clock: Clock = createClock()) {
  const faults = createFaults(clock, createRandom(`faults:${seed}`))
  const { id } = faults.add(order)
  const strike = () => faults.strike(faultStages[order.fault], call(of)) !== undefined
  return { faults, id, strike, times: (count: number) => Array.from({ length: count }, strike) }
}

describe.each(['distribution', 'events'] as const)('a fault of the %s', (of) => {
  const own = names.filter((name) => of === 'distribution' || !distributionOnly.has(name))

  it('strikes as often as its probability says, and the same calls for the same seed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...own), fc.integer(), fc.integer({ min: 0, max: 10 }), (fault, seed, tenths) => {
        const order = { fault, probability: tenths / 10 }
        const first = struck(order, seed, of).times(400)
        expect(struck(order, seed, of).times(400)).toEqual(first)
        const share = first.filter(Boolean).length / 400
        expect(Math.abs(share - tenths / 10)).toBeLessThan(0.15)
        if (tenths % 10 === 0) expect(share).toBe(tenths / 10)
      }),
    )
  })

  it.each(own)('%s ends after its duration, after its times, and when it is switched off', (fault) => {
    const clock = createClock()
    const brief = struck({ fault, durationMs: 60_000 }, 1, of, clock)
    expect(brief.times(3)).toEqual([true, true, true])
    clock.advance(60_000)
    expect(brief.times(2)).toEqual([false, false])
    expect(brief.faults.list()).toEqual([])
    expect(struck({ fault, times: 2 }, 1, of).times(4)).toEqual([true, true, false, false])
    const endless = struck({ fault }, 1, of)
    expect(endless.strike()).toBe(true)
    endless.faults.clear(endless.id)
    expect(endless.strike()).toBe(false)
  })

  it('leaves the other kind, the other service and the other CNPJ alone', () => {
    for (const fault of own) {
      const other = of === 'events' ? 'distribution' : 'events'
      for (const order of [{ of: other }, { service: 'cte' }, { cnpj: '44555666000181' }] as const) {
        expect(struck({ fault, ...order }, 1, of).strike()).toBe(false)
      }
    }
  })
})

it('what spoils documents or cursors never strikes an event', () => {
  expect([...distributionOnly]).toEqual(['corruptedDocZip', 'unknownSchema', 'maxNsuZero'])
  for (const fault of distributionOnly) expect(struck({ fault }, 1, 'events').strike()).toBe(false)
})
