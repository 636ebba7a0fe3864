import { expect, test } from 'vitest'
import { endpoints, simulatedEndpoints } from './endpoints.ts'

test('the addresses of the Ambiente Nacional', () => {
  expect(endpoints).toEqual({
    producao: {
      distribution: {
        nfe: 'https://www1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
        cte: 'https://www1.cte.fazenda.gov.br/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
      },
    },
    homologacao: {
      distribution: {
        nfe: 'https://hom1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
        cte: 'https://hom1.cte.fazenda.gov.br/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
      },
    },
  })
})

test.each(['https://localhost:4430', 'https://localhost:4430/'])('the same paths on %s', (origin) => {
  expect(simulatedEndpoints(origin).distribution).toEqual({
    nfe: 'https://localhost:4430/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
    cte: 'https://localhost:4430/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
  })
})
