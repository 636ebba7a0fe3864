import { createInterface } from 'node:readline'
import { ConfigError, readConfig } from './config.ts'
import { openSigner } from './operations/signer/in-process.ts'
import { InstallationError } from './platform/installation.ts'
import { migrate } from './platform/schema/migrate.ts'
import { serveSigner } from './platform/signer/server.ts'

// The signer as a process of its own (docs/decisions/0031-signer.md): alone, by its own account and with its own settings, or as the child of
// a program, which tells it the database on its input and takes it along when it ends.
const isChild = process.argv.includes('--child')

try {
  const config = readConfig(process.env, process.cwd(), { isSigner: true })
  const input = createInterface(process.stdin)
  const firstLine = new Promise<string>((resolve) => input.once('line', resolve))
  const told = new Promise<void>((resolve) => {
    if (isChild) input.once('close', resolve)
    // A child lives as long as its parent, which Ctrl+C reaches too.
    else for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  const url = isChild ? await firstLine : config.databaseUrl
  if (!config.signerSocket || !url)
    throw new InstallationError(
      'O assinador precisa de SIGNER_SOCKET, o caminho em que ele atende, e de DATABASE_URL. Nada foi alterado. Sem essas duas, npm start já traz um assinador.',
    )
  if (!isChild) await migrate(url)
  await using signer = await openSigner(config, url)
  // A socket known to both is in a folder of one account, or of a group that has the other accounts.
  await using _ = await serveSigner(signer, config.signerSocket, isChild ? 0o600 : 0o660)
  console.log('ready')
  await told
} catch (error) {
  const isPlain = error instanceof ConfigError || error instanceof InstallationError
  console.error(isPlain ? error.message : error)
  process.exitCode = 1
}
process.exit()
