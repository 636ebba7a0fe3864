import { describe, expect, test } from 'vitest'
import { createPlaces } from './places.ts'

const full = 'Há demais.'

describe('places', () => {
  test('go in turns: who asks for much waits for their own', async () => {
    const places = createPlaces({ all: 3, each: 2, waiting: 10, full })
    const order: string[] = []
    const held: Disposable[] = []
    const ask = (who: string) =>
      void places.take(who).then((place) => {
        order.push(who)
        held.push(place)
      })
    for (let time = 0; time < 5; time++) ask('much')
    ask('little')
    await Promise.resolve()
    await new Promise(setImmediate)
    expect(order).toEqual(['much', 'much', 'little'])
    ask('other')
    for (let time = 0; time < 6; time++) {
      held.shift()![Symbol.dispose]()
      await new Promise(setImmediate)
    }
    expect(order).toEqual(['much', 'much', 'little', 'much', 'other', 'much', 'much'])
  })

  test('that were left are free again, once', async () => {
    const places = createPlaces({ all: 1, each: 1, waiting: 0, full })
    const first = await places.take(1)
    await expect(places.take(1)).rejects.toMatchObject({ code: 'too-many', message: full })
    await expect(places.take(2)).rejects.toMatchObject({ code: 'too-many' })
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    await places.take(2)
    await expect(places.take(1)).rejects.toMatchObject({ code: 'too-many' })
  })
})
