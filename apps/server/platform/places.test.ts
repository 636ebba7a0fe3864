import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
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

  test('are taken by weight: beside heavy work there is room for light, in the order in which it came', async () => {
    const places = createPlaces({ all: 8, each: 4, waiting: 10, full })
    const order: string[] = []
    const held: Disposable[] = []
    const ask = (who: string, name: string, weight: number) =>
      void places.take(who, weight).then((place) => {
        order.push(name)
        held.push(place)
      })
    ask('a', 'heavy 1', 3)
    ask('a', 'light 1', 1)
    ask('a', 'heavy 2', 3)
    ask('a', 'light 2', 1)
    await new Promise(setImmediate)
    expect(order).toEqual(['heavy 1', 'light 1'])
    held.shift()![Symbol.dispose]()
    await new Promise(setImmediate)
    expect(order).toEqual(['heavy 1', 'light 1', 'heavy 2'])
    held.shift()![Symbol.dispose]()
    await new Promise(setImmediate)
    expect(order).toEqual(['heavy 1', 'light 1', 'heavy 2', 'light 2'])
  })

  test('heavy work gets its turn, however much light work of others comes', async () => {
    const places = createPlaces({ all: 4, each: 4, waiting: 10, full })
    const light = [await places.take('a'), await places.take('b')]
    const order: string[] = []
    void places.take('c', 3).then(() => order.push('heavy'))
    void places.take('d').then(() => order.push('light'))
    await new Promise(setImmediate)
    expect(order).toEqual([])
    light[0]![Symbol.dispose]()
    await new Promise(setImmediate)
    expect(order).toEqual(['heavy'])
    light[1]![Symbol.dispose]()
    await new Promise(setImmediate)
    expect(order).toEqual(['heavy', 'light'])
  })

  test('heavy work of all together leaves places for light work, however many want heavy work', async () => {
    const places = createPlaces({ all: 8, heavy: 6, each: 4, waiting: 10, full })
    const order: string[] = []
    const heavy = [await places.take('a', 3), await places.take('b', 3)]
    void places.take('c', 3).then(() => order.push('heavy'))
    void places.take('d').then(() => order.push('light'))
    await new Promise(setImmediate)
    expect(order).toEqual(['light'])
    heavy[0]![Symbol.dispose]()
    await new Promise(setImmediate)
    expect(order).toEqual(['light', 'heavy'])
  })

  test("light work does not wait behind heavy work of the same workspace that others' heavy work holds up", async () => {
    const places = createPlaces({ all: 8, heavy: 6, each: 4, waiting: 2, full })
    const order: string[] = []
    const heavy = [await places.take('a', 3), await places.take('b', 3)]
    void places.take('c', 3).then(() => order.push('heavy'))
    void places.take('c').then(() => order.push('light'))
    await new Promise(setImmediate)
    expect(order).toEqual(['light'])
    // Both kinds count to what waits of one.
    void places.take('c', 3).catch(() => {})
    await expect(places.take('c', 3)).rejects.toMatchObject({ code: 'too-many' })
    heavy[0]![Symbol.dispose]()
    await new Promise(setImmediate)
    expect(order).toEqual(['light', 'heavy'])
  })

  test('heavy work of a workspace gets its turn, however much light work of its own comes', async () => {
    const places = createPlaces({ all: 8, each: 4, waiting: 10, full })
    const order: string[] = []
    const light = [await places.take('a'), await places.take('a')]
    void places.take('a', 3).then(() => order.push('heavy'))
    void places.take('a').then(() => order.push('light'))
    await new Promise(setImmediate)
    expect(order).toEqual([])
    light[0]![Symbol.dispose]()
    await new Promise(setImmediate)
    expect(order).toEqual(['heavy'])
    light[1]![Symbol.dispose]()
    await new Promise(setImmediate)
    expect(order).toEqual(['heavy', 'light'])
  })

  describe('while others are here', () => {
    const open = () => createPlaces({ all: 8, each: 4, beside: 1, waiting: 10, full })
    const asking = (places: ReturnType<typeof open>) => {
      const order: string[] = []
      const held = new Map<string, Disposable>()
      const ask = (who: string, name: string, weight = 1) =>
        void places.take(who, weight).then((place) => {
          order.push(name)
          held.set(name, place)
        })
      const end = (name: string) => held.get(name)![Symbol.dispose]()
      return { order, ask, end }
    }
    const settled = () => Promise.resolve().then(() => Promise.resolve())

    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
    afterEach(() => void vi.useRealTimers())

    test('one thing of each at a time is begun, whatever it weighs; alone, as many as there are places', async () => {
      const { order, ask, end } = asking(open())
      for (const name of ['a1', 'a2', 'a3']) ask('a', name)
      await settled()
      expect(order).toEqual(['a1', 'a2', 'a3'])
      ask('b', 'b1')
      ask('a', 'a4')
      await settled()
      expect(order).toEqual(['a1', 'a2', 'a3', 'b1'])
      for (const name of ['a1', 'a2']) end(name)
      await settled()
      expect(order).toHaveLength(4)
      end('a3')
      await settled()
      expect(order.at(-1)).toBe('a4')
    })

    test('they are, for ten seconds after what they had', async () => {
      const { order, ask, end } = asking(open())
      ask('b', 'b1')
      await settled()
      end('b1')
      vi.advanceTimersByTime(9_500)
      for (const name of ['a1', 'a2', 'a3']) ask('a', name)
      await settled()
      expect(order).toEqual(['b1', 'a1'])
      end('a1')
      await settled()
      expect(order).toEqual(['b1', 'a1', 'a2'])
      // Nobody comes or goes.
      vi.advanceTimersByTime(500)
      await settled()
      expect(order).toEqual(['b1', 'a1', 'a2', 'a3'])
    })

    test('what takes longer than a second does not hold up the rest of its workspace', async () => {
      const { order, ask } = asking(open())
      ask('b', 'b1')
      ask('a', 'slow', 3)
      ask('a', 'list')
      vi.advanceTimersByTime(900)
      await settled()
      expect(order).toEqual(['b1', 'slow'])
      vi.advanceTimersByTime(500)
      await settled()
      expect(order).toEqual(['b1', 'slow', 'list'])
    })
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
