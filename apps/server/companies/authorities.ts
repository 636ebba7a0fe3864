import { X509Certificate } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { carriedAuthorities, findChain, findPinned } from '@vigia/sefaz/chain'
import type { Context } from '../platform/context.ts'
import { InstallationError } from '../platform/installation.ts'

type AuthoritiesConfig = Pick<Context['config'], 'sefaz'>

/** The authorities (PEM) that servers of the tax authority may chain to, besides the usual ones. */
export async function readAuthorities(config: AuthoritiesConfig): Promise<string[]> {
  const given = await readGivenAuthorities(config)
  return [...ownAuthorities(config), ...(await readKeptAuthorities(config, given)), ...given]
}

/** The authorities (PEM) of SEFAZ_CA_FILE, or of the simulator. */
export async function readGivenAuthorities({ sefaz }: AuthoritiesConfig): Promise<string[]> {
  return Promise.all(sefaz.caFiles.map(readAuthorityFile))
}

/** The authorities (PEM) that prove who holds a certificate: of ICP-Brasil, of the simulator, and those that the operator named. */
export async function readHolderAuthorities(config: AuthoritiesConfig): Promise<string[]> {
  const given = await readGivenAuthorities(config)
  const known = [...ownAuthorities(config), ...(await readKeptAuthorities(config, given))]
  // An intermediate of a public root says nothing about a CNPJ.
  const provesHolders = (pem: string) => findPinned(new X509Certificate(pem))?.serversOnly === false
  return [...known.filter(provesHolders), ...given]
}

function ownAuthorities({ sefaz }: AuthoritiesConfig): readonly string[] {
  return sefaz.ambiente === 'simulado' ? [] : carriedAuthorities
}

/** Whether an authority from elsewhere may be kept: its digest is pinned, or it chains to a root that is trusted already. */
export function mayBeKept(authority: X509Certificate, given: readonly string[]): boolean {
  if (findPinned(authority)) return true
  const roots = [...rootCertificates, ...carriedAuthorities, ...given]
  return authority.ca && findChain({ certificate: authority.toString(), chain: [] }, roots) !== null
}

/** The authorities (PEM) that `npm run sefaz -- autoridades` fetched, each judged again. */
async function readKeptAuthorities({ sefaz }: AuthoritiesConfig, given: readonly string[]): Promise<string[]> {
  if (sefaz.ambiente === 'simulado') return []
  // A signer of another account may not read it.
  const names = await readdir(sefaz.caFolder).catch(() => [])
  const kept: string[] = []
  for (const name of names.filter((name) => name.endsWith('.pem'))) {
    const authority = new X509Certificate(await readAuthorityFile(join(sefaz.caFolder, name)))
    if (mayBeKept(authority, given)) kept.push(authority.toString())
  }
  return kept
}

// A chain that is half read would show itself hours later, as a server that cannot be trusted.
async function readAuthorityFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new InstallationError(
      `Não foi possível ler o arquivo de autoridades certificadoras ${file}. Confira SEFAZ_CA_FILE.`,
      { cause },
    )
  })
  const begun = text.match(/-----BEGIN CERTIFICATE-----/g)?.length ?? 0
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    if (certificates.length === 0) throw new Error('no certificate in it')
    if (certificates.length < begun) throw new Error('the file ends in the middle of a certificate')
    for (const pem of certificates) new X509Certificate(pem)
  } catch (cause) {
    throw new InstallationError(
      begun > 0
        ? `O arquivo ${file} está incompleto ou danificado: nem todos os certificados dele podem ser lidos. Copie-o de novo e confira SEFAZ_CA_FILE.`
        : `O arquivo ${file} não contém certificados em PEM. Confira SEFAZ_CA_FILE: ele deve trazer a cadeia da ICP-Brasil.`,
      { cause },
    )
  }
  return text
}
