import { expect, test } from 'vitest'
import { addressInWords, regionOf } from './region.ts'

test.each([
  ['200.160.2.3', 'Brasil'],
  ['::ffff:200.160.2.3', 'Brasil'],
  ['8.8.8.8', 'Estados Unidos'],
  ['2804:14c::1', 'Brasil'],
  ['2803:9800::1', 'América Latina ou Caribe'],
  ['127.0.0.1', 'rede local'],
  ['192.168.0.7', 'rede local'],
  ['fe80::1', 'rede local'],
  ['2001:4860::8888', null],
  ['desconhecido', null],
  [null, null],
])('%s is of %s', (address, region) => {
  expect(regionOf(address)).toBe(region)
})

test('a letter tells the address and the country', () => {
  expect([addressInWords('200.160.2.3'), addressInWords('2001:4860::8888')]).toEqual([
    '200.160.2.3 (Brasil)',
    '2001:4860::8888',
  ])
})
