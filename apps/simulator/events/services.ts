import type { Service } from '../inspect.ts'
import type { SoapService } from '../soap.ts'

/** A service that receives events, and what its messages look like. */
export interface EventService extends SoapService {
  service: Service
  /** AN, or the authoriser of the CT-e. */
  authorizer: string
  /** cOrgao of the response when the message has none: 91, or the state of the service. */
  cOrgao: string
  /** The path of the real host, when it is another one. */
  otherPaths: readonly string[]
  verAplic: string
  messageNamespace: string
  messageBytesMax: number
}

const cteAuthorizers: readonly [authorizer: string, cOrgao: string, realPath: string][] = [
  ['SVRS', '43', '/ws/CTeRecepcaoEventoV4/CTeRecepcaoEventoV4.asmx'],
  ['SP', '35', '/CTeWS/WS/CTeRecepcaoEventoV4.asmx'],
  ['MG', '31', '/cte/services/CTeRecepcaoEventoV4'],
  ['MS', '50', '/ws/CTeRecepcaoEventoV4'],
  ['MT', '51', '/ctews2/services/CTeRecepcaoEventoV4'],
  ['PR', '41', '/cte4/CTeRecepcaoEventoV4'],
]

export const eventServices: readonly EventService[] = [
  {
    service: 'nfe',
    authorizer: 'AN',
    cOrgao: '91',
    path: '/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
    otherPaths: [],
    versions: ['1.1', '1.2'],
    name: 'NFeRecepcaoEvento4',
    namespace: 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4',
    // The Ambiente Nacional alone has the suffix NF.
    operation: 'nfeRecepcaoEventoNF',
    otherActions: ['nfeRecepcaoEvento'],
    dataElement: 'nfeDadosMsg',
    bareResult: 'nfeRecepcaoEventoNFResult',
    verAplic: 'AN_1.6.4-SIMULADOR',
    messageNamespace: 'http://www.portalfiscal.inf.br/nfe',
    messageBytesMax: 500 * 1024,
  },
  ...cteAuthorizers.map(
    ([authorizer, cOrgao, realPath]): EventService => ({
      service: 'cte',
      authorizer,
      cOrgao,
      // Real authorisers have separate hosts; here the path distinguishes them.
      path: `/${authorizer}/CTeRecepcaoEventoV4`,
      otherPaths: [realPath],
      versions: ['1.2'],
      name: 'CTeRecepcaoEventoV4',
      namespace: 'http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4',
      operation: 'cteRecepcaoEvento',
      dataElement: 'cteDadosMsg',
      bareResult: 'cteRecepcaoEventoResult',
      verAplic: `${authorizer}-4.00-SIMULADOR`,
      messageNamespace: 'http://www.portalfiscal.inf.br/cte',
      messageBytesMax: 512 * 1024,
    }),
  ),
]
