import { describe, expect, test } from 'vitest'
import { findChain } from './chain.ts'
import { issue } from './testing.ts'

const chainsTo = (...given: Parameters<typeof findChain>) => findChain(...given) !== null

const root = issue({ commonName: 'AC RAIZ DE TESTE', authority: true })
const intermediate = issue({ commonName: 'AC INTERMEDIARIA', authority: true, issuer: root })
const leaf = issue({ commonName: 'EMPRESA LTDA:12ABC34501DE35', issuer: intermediate })
const stranger = issue({ commonName: 'AC RAIZ DE TESTE', authority: true })

describe('a certificate', () => {
  test('is traced to its root over the authorities that came with it', () => {
    expect(chainsTo({ certificate: leaf.certificate, chain: [intermediate.certificate] }, [root.certificate])).toBe(
      true,
    )
    expect(
      chainsTo({ certificate: leaf.certificate, chain: [root.certificate, intermediate.certificate] }, [
        root.certificate,
      ]),
    ).toBe(true)
    expect(
      chainsTo({ certificate: leaf.certificate, chain: [] }, [`${root.certificate}\n${intermediate.certificate}`]),
    ).toBe(true)
  })

  test('is told with all the authorities above it that are known, also above a trusted one', () => {
    const path = (roots: string[]) =>
      findChain({ certificate: leaf.certificate, chain: [intermediate.certificate] }, roots)?.map(({ raw }) => raw)
    const whole = [leaf, intermediate, root].map(({ x509 }) => x509.raw)
    expect(path([root.certificate])).toEqual(whole)
    expect(path([intermediate.certificate, root.certificate])).toEqual(whole)
    expect(path([intermediate.certificate])).toEqual(whole.slice(0, 2))
  })

  test('without the authority between is not', () => {
    expect(chainsTo({ certificate: leaf.certificate, chain: [] }, [root.certificate])).toBe(false)
  })

  test('of a root that only has the same name is not', () => {
    const forged = issue({ commonName: 'EMPRESA LTDA:12ABC34501DE35', issuer: stranger })
    expect(chainsTo({ certificate: forged.certificate, chain: [stranger.certificate] }, [root.certificate])).toBe(false)
  })

  test('that signed itself is not', () => {
    const own = issue({ commonName: 'EMPRESA LTDA:12ABC34501DE35' })
    expect(chainsTo({ certificate: own.certificate, chain: [own.certificate] }, [root.certificate])).toBe(false)
  })

  test('issued by a certificate that is no authority is not', () => {
    const other = issue({ commonName: 'OUTRA EMPRESA', issuer: leaf })
    expect(
      chainsTo({ certificate: other.certificate, chain: [leaf.certificate, intermediate.certificate] }, [
        root.certificate,
      ]),
    ).toBe(false)
  })

  test('is not traced before it begins or after it ends', () => {
    const at = (date: string) =>
      chainsTo({ certificate: leaf.certificate, chain: [intermediate.certificate] }, [root.certificate], new Date(date))
    expect(at('1999-01-01')).toBe(false)
    expect(at('2999-01-01')).toBe(false)
  })

  test('without any root is not', () => {
    expect(chainsTo({ certificate: leaf.certificate, chain: [intermediate.certificate] }, [])).toBe(false)
  })
})
