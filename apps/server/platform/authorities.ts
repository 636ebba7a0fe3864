import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Context } from './context.ts'
import { InstallationError } from './installation.ts'

/** The authorities (PEM) that are trusted besides the usual ones: those of ICP-Brasil, or of the simulator. */
export async function readAuthorities({ sefaz }: Pick<Context['config'], 'sefaz'>): Promise<string[]> {
  return Promise.all(sefaz.caFiles.map(readAuthorityFile))
}

// A chain that is half read would show itself hours later, as a server that cannot be trusted.
async function readAuthorityFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new InstallationError(
      `Não foi possível ler o arquivo de autoridades certificadoras ${file}. Confira SEFAZ_CA_FILE.`,
      { cause },
    )
  })
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    if (certificates.length === 0) throw new Error('no certificate in it')
    for (const pem of certificates) new X509Certificate(pem)
  } catch (cause) {
    throw new InstallationError(
      `O arquivo ${file} não contém certificados em PEM. Confira SEFAZ_CA_FILE: ele deve trazer a cadeia da ICP-Brasil.`,
      { cause },
    )
  }
  return text
}
