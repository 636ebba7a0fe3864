import { readFile } from 'node:fs/promises'

// Prints the runtime dependencies as a bill of materials (CycloneDX 1.6): `npm run sbom >
// sbom.json`. Reads package-lock.json, because `npm sbom --omit=dev` leaves out dependencies of the
// workspaces.

interface LockedPackage {
  name?: string
  version?: string
  resolved?: string
  integrity?: string
  license?: string
  dev?: boolean
  link?: boolean
}

interface Component {
  type: 'library' | 'platform'
  name: string
  version: string
  purl: string
  licenses?: { expression: string }[]
  hashes?: { alg: 'SHA-512'; content: string }[]
}

/** The bill of materials for the packages of a package-lock.json. */
export function billOfMaterials(packages: Record<string, LockedPackage>) {
  const { name, version } = packages['']!
  const components = Object.entries(packages).flatMap(([path, locked]) => componentOf(path, locked) ?? [])
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version } },
    components: components.sort((a, b) => (a.purl < b.purl ? -1 : 1)),
  }
}

const folder = 'node_modules/'
// A dependency of development for npm, but the program runs on it.
const runtime = 'node'

function componentOf(path: string, { version, integrity, license, dev, link }: LockedPackage): Component | null {
  const at = path.lastIndexOf(folder)
  const name = path.slice(at + folder.length)
  if (at < 0 || link || !version || (dev && name !== runtime)) return null
  return {
    type: name === runtime ? 'platform' : 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license && { licenses: [{ expression: license }] }),
    ...(integrity?.startsWith('sha512-') && {
      hashes: [{ alg: 'SHA-512' as const, content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }],
    }),
  }
}

if (import.meta.main) {
  const text = await readFile(new URL('../package-lock.json', import.meta.url), 'utf8')
  console.log(JSON.stringify(billOfMaterials(JSON.parse(text).packages), null, 2))
}
