import type { X509Certificate } from 'node:crypto'

/** An authority of ICP-Brasil by its SHA-256 (DER), and where its owner publishes the certificate. */
interface PinnedAuthority {
  name: string
  sha256: string
  /** Only for certificates of servers: nothing is concluded from it about the holder of a company's certificate. */
  serversOnly: boolean
  address?: string
}

const published = 'https://repositorio.serpro.gov.br/docs'

/** The authorities that the hosts of the tax authority and the certificates of companies chain to. */
export const pinnedAuthorities: readonly PinnedAuthority[] = [
  {
    name: 'Autoridade Certificadora Raiz Brasileira v5',
    sha256: 'CA:A5:3F:C6:09:1C:69:51:88:7C:97:6E:37:8F:6E:F8:9A:A6:37:7C:55:D9:7B:64:75:42:2B:71:ED:7E:9B:17',
    serversOnly: false,
    address: `${published}/icpbrasilv5.crt`,
  },
  {
    name: 'Autoridade Certificadora Raiz Brasileira v10',
    sha256: '6E:0B:FF:06:9A:26:99:4C:15:DE:2C:48:88:CC:54:AF:84:88:2E:54:95:B7:FB:F6:6B:E9:CC:FF:EC:74:89:F6',
    serversOnly: false,
    address: `${published}/icpbrasilv10.crt`,
  },
  {
    name: 'Autoridade Certificadora Raiz Brasileira v12',
    sha256: 'D8:47:8E:37:CE:19:C6:90:CF:65:73:81:E6:8F:E6:00:E4:E1:A0:42:53:68:30:F0:68:47:E0:3E:55:4C:4B:01',
    serversOnly: false,
    address: `${published}/icpbrasilv12.crt`,
  },
  {
    name: 'Autoridade Certificadora do SERPRO SSLv1',
    sha256: '08:FC:94:2D:51:76:E5:68:AC:BE:F9:C5:95:F3:6A:20:DE:6A:CF:9E:A3:0C:6F:5F:CE:DD:48:21:6E:D5:B0:70',
    serversOnly: true,
  },
]

/** The pinned authority whose certificate this is, byte for byte. */
export function findPinned({ fingerprint256 }: Pick<X509Certificate, 'fingerprint256'>): PinnedAuthority | undefined {
  return pinnedAuthorities.find(({ sha256 }) => sha256 === fingerprint256)
}
