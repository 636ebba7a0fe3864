import { ufs } from '@vigia/dfe/uf'
import { expect, test } from 'vitest'
import { cteEventUrl, endpoints, simulatedEndpoints } from './endpoints.ts'

test('the addresses of the Ambiente Nacional', () => {
  const { producao, homologacao } = endpoints
  expect(producao).toMatchObject({
    distribution: {
      nfe: 'https://www1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
      cte: 'https://www1.cte.fazenda.gov.br/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
    },
    manifestation: 'https://www.nfe.fazenda.gov.br/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
  })
  expect(homologacao).toMatchObject({
    distribution: {
      nfe: 'https://hom1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
      cte: 'https://hom1.cte.fazenda.gov.br/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
    },
    manifestation: 'https://hom1.nfe.fazenda.gov.br/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
  })
})

const { producao, homologacao } = endpoints
const simulated = simulatedEndpoints('https://localhost:4430')
const rest = '260877888999000181570010000098761135724684'
const byHost = (ambiente: typeof producao) =>
  Object.groupBy(ufs, ({ code }) => new URL(cteEventUrl(ambiente, `${code}${rest}`)).host)
const siglas = (groups: ReturnType<typeof byHost>) =>
  Object.fromEntries(Object.entries(groups).map(([host, list]) => [host, list?.map(({ uf }) => uf).join(' ')]))

const svrs = 'RO AC AM PA TO MA PI CE RN PB AL SE BA ES RJ SC RS GO DF'

test('the events of a CT-e go to the authoriser of the UF in its chave', () => {
  expect(siglas(byHost(producao))).toEqual({
    'cte.svrs.rs.gov.br': svrs,
    'nfe.fazenda.sp.gov.br': 'RR AP PE SP',
    'cte.fazenda.mg.gov.br': 'MG',
    'cte.fazenda.pr.gov.br': 'PR',
    'producao.cte.ms.gov.br': 'MS',
    'cte.sefaz.mt.gov.br': 'MT',
  })
  expect(siglas(byHost(homologacao))).toEqual({
    'cte-homologacao.svrs.rs.gov.br': svrs,
    'homologacao.nfe.fazenda.sp.gov.br': 'RR AP PE SP',
    'hcte.fazenda.mg.gov.br': 'MG',
    'homologacao.cte.fazenda.pr.gov.br': 'PR',
    'homologacao.cte.ms.gov.br': 'MS',
    'homologacao.sefaz.mt.gov.br': 'MT',
  })
  const paths = ufs.map(({ code }) => new URL(cteEventUrl(simulated, `${code}${rest}`)).pathname)
  expect([...new Set(paths)].sort()).toEqual(
    ['MG', 'MS', 'MT', 'PR', 'SP', 'SVRS'].map((name) => `/${name}/CTeRecepcaoEventoV4`),
  )
  expect(cteEventUrl(simulated, `26${rest}`)).toBe('https://localhost:4430/SP/CTeRecepcaoEventoV4')
})

test('every address is HTTPS, ends in its service, and belongs to one ambiente', () => {
  const all = [producao, homologacao].flatMap(({ cteEvents }) => Object.values(cteEvents))
  for (const url of all) expect(url).toMatch(/^https:\/\/[a-z0-9.-]+\.gov\.br\/.*\/CTeRecepcaoEventoV4(\.asmx)?$/)
  expect(Object.keys(producao.cteEvents).sort()).toEqual(Object.keys(homologacao.cteEvents).sort())
  // Six addresses each; SVSP is SP under another name.
  expect(new Set(all).size).toBe(12)
})

test('a chave of no state has no authoriser', () => {
  for (const code of ['91', '00', 'AB']) expect(() => cteEventUrl(producao, `${code}${rest}`)).toThrow(TypeError)
})

test.each(['https://localhost:4430', 'https://localhost:4430/'])('the same paths on %s', (origin) => {
  expect(simulatedEndpoints(origin)).toMatchObject({
    distribution: {
      nfe: 'https://localhost:4430/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
      cte: 'https://localhost:4430/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
    },
    manifestation: 'https://localhost:4430/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
  })
})
