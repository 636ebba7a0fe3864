import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issuePfx, openCertificationAuthority } from './certificates.ts'
import { CommandError, help, readCommand } from './command.ts'
import { start } from './start.ts'

// The product reads the same file; the environment wins over it.
const environmentFile = join(import.meta.dirname, '../../.env')

try {
  if (existsSync(environmentFile)) process.loadEnvFile(environmentFile)
  const command = readCommand(process.argv.slice(2), process.env, process.cwd())
  if (command.name === 'help') console.log(help)
  else if (command.name === 'certificate') {
    const authority = await openCertificationAuthority(command.directory, Date.now())
    writeFileSync(command.out, await issuePfx(authority, command.holder, Date.now()), { mode: 0o600 })
    console.log(`certificado gravado em ${command.out}`)
  } else {
    // The standard output is for programs; people read the other one.
    const simulator = await start({ ...command.options, log: (line) => console.error(line) })
    console.log(JSON.stringify({ ready: true, origin: simulator.origin, port: simulator.port, seed: simulator.seed }))
    const stop = () => {
      simulator[Symbol.asyncDispose]().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    }
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
    if (command.exitWithParent) process.stdin.resume().once('end', stop).once('error', stop)
  }
} catch (error) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') console.error('A porta do simulador já está em uso.')
  else if (error instanceof CommandError) console.error(`${error.message}\n\n${help}`)
  else console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
