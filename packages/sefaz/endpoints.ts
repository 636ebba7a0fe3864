/** The addresses of the web services of one ambiente (NT 2014.002 and NT 2015.002). */
export interface Endpoints {
  distribution: { nfe: string; cte: string }
}

const nfePath = '/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx'
const ctePath = '/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx'

/** The Ambiente Nacional in produção and homologação (NT 2014.002 and NT 2015.002). */
export const endpoints: { producao: Endpoints; homologacao: Endpoints } = {
  producao: {
    distribution: {
      nfe: `https://www1.nfe.fazenda.gov.br${nfePath}`,
      cte: `https://www1.cte.fazenda.gov.br${ctePath}`,
    },
  },
  homologacao: {
    distribution: {
      nfe: `https://hom1.nfe.fazenda.gov.br${nfePath}`,
      cte: `https://hom1.cte.fazenda.gov.br${ctePath}`,
    },
  },
}

/** The same paths on one origin, for a tax authority that is not the real one (NT 2014.002 and NT 2015.002). */
export function simulatedEndpoints(origin: string): Endpoints {
  return { distribution: { nfe: new URL(nfePath, origin).href, cte: new URL(ctePath, origin).href } }
}
