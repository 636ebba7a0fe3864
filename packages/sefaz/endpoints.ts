import { ufByCode } from '@vigia/dfe/uf'

/** The addresses of the web services of one ambiente (NT 2014.002, NT 2015.002, NT 2020.001 and MOC CT-e 4.00, ambientes de autorização). */
export interface Endpoints {
  distribution: { nfe: string; cte: string }
  /** NFeRecepcaoEvento4 of the Ambiente Nacional: every manifestação, whatever the UF. */
  manifestation: string
  /** CTeRecepcaoEventoV4 by authoriser, as the table of UFs names them; `cteEventUrl` chooses. */
  cteEvents: Readonly<Record<string, string>>
}

const nfePath = '/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx'
const ctePath = '/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx'
const manifestationPath = '/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx'

/** The Ambiente Nacional and the authorisers of the CT-e in produção and homologação (NT 2014.002, NT 2015.002, NT 2020.001 and MOC CT-e 4.00, ambientes de autorização). */
export const endpoints: { producao: Endpoints; homologacao: Endpoints } = {
  producao: {
    distribution: {
      nfe: `https://www1.nfe.fazenda.gov.br${nfePath}`,
      cte: `https://www1.cte.fazenda.gov.br${ctePath}`,
    },
    manifestation: `https://www.nfe.fazenda.gov.br${manifestationPath}`,
    cteEvents: withSvsp({
      MG: 'https://cte.fazenda.mg.gov.br/cte/services/CTeRecepcaoEventoV4',
      MS: 'https://producao.cte.ms.gov.br/ws/CTeRecepcaoEventoV4',
      MT: 'https://cte.sefaz.mt.gov.br/ctews2/services/CTeRecepcaoEventoV4',
      PR: 'https://cte.fazenda.pr.gov.br/cte4/CTeRecepcaoEventoV4',
      SP: 'https://nfe.fazenda.sp.gov.br/CTeWS/WS/CTeRecepcaoEventoV4.asmx',
      SVRS: 'https://cte.svrs.rs.gov.br/ws/CTeRecepcaoEventoV4/CTeRecepcaoEventoV4.asmx',
    }),
  },
  homologacao: {
    distribution: {
      nfe: `https://hom1.nfe.fazenda.gov.br${nfePath}`,
      cte: `https://hom1.cte.fazenda.gov.br${ctePath}`,
    },
    manifestation: `https://hom1.nfe.fazenda.gov.br${manifestationPath}`,
    cteEvents: withSvsp({
      MG: 'https://hcte.fazenda.mg.gov.br/cte/services/CTeRecepcaoEventoV4',
      MS: 'https://homologacao.cte.ms.gov.br/ws/CTeRecepcaoEventoV4',
      MT: 'https://homologacao.sefaz.mt.gov.br/ctews2/services/CTeRecepcaoEventoV4',
      PR: 'https://homologacao.cte.fazenda.pr.gov.br/cte4/CTeRecepcaoEventoV4',
      SP: 'https://homologacao.nfe.fazenda.sp.gov.br/CTeWS/WS/CTeRecepcaoEventoV4.asmx',
      SVRS: 'https://cte-homologacao.svrs.rs.gov.br/ws/CTeRecepcaoEventoV4/CTeRecepcaoEventoV4.asmx',
    }),
  },
}

// SVSP is the service of São Paulo for other states, at its own address.
function withSvsp<T extends { SP: string }>(addresses: T): T & { SVSP: string } {
  return { ...addresses, SVSP: addresses.SP }
}

/** The same paths on one origin, for a tax authority that is not the real one; there the first segment distinguishes the authorisers of the CT-e (NT 2014.002, NT 2015.002, NT 2020.001 and MOC CT-e 4.00). */
export function simulatedEndpoints(origin: string): Endpoints {
  const at = (path: string) => new URL(path, origin).href
  const authorizer = (name: string) => at(`/${name}/CTeRecepcaoEventoV4`)
  return {
    distribution: { nfe: at(nfePath), cte: at(ctePath) },
    manifestation: at(manifestationPath),
    cteEvents: withSvsp({
      MG: authorizer('MG'),
      MS: authorizer('MS'),
      MT: authorizer('MT'),
      PR: authorizer('PR'),
      SP: authorizer('SP'),
      SVRS: authorizer('SVRS'),
    }),
  }
}

/**
 * URL for the events of a CT-e: the authoriser of the UF in its chave, never that of the company
 * that sends them. Throws TypeError for an unknown UF (MOC CT-e 4.00, ambientes de autorização).
 */
export function cteEventUrl(endpoints: Pick<Endpoints, 'cteEvents'>, chave: string): string {
  const url = endpoints.cteEvents[ufByCode(chave.slice(0, 2))?.cteAuthorizer ?? '']
  if (url === undefined) throw new TypeError(`no UF authorises the CT-e of ${chave}`)
  return url
}
