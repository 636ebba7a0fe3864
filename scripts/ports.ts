import { createServer } from 'node:net'
import { StartError } from './lifetime.ts'

/** Refuses, before anything is created, when `port` cannot be opened on this machine. */
export async function requirePort(port: number, variable: string): Promise<void> {
  if (port === 0) return
  for (const host of ['127.0.0.1', '::1']) {
    const code = await bindingProblem(port, host)
    if (code === 'EADDRINUSE') throw portInUse(port, variable)
    if (code === 'EACCES') throw portForbidden(port, variable)
  }
}

/** The first port from `port` on that no other program has. */
export async function freePort(port: number): Promise<number> {
  for (let next = port; next <= 65_535; next++) {
    const [ipv4, ipv6] = [await bindingProblem(next, '127.0.0.1'), await bindingProblem(next, '::1')]
    if (ipv4 !== 'EADDRINUSE' && ipv6 !== 'EADDRINUSE') return next
  }
  throw new StartError(`Não há porta livre a partir da ${port}.`)
}

export function portInUse(port: number, variable: string): StartError {
  return new StartError(
    `A porta ${port} já está em uso por outro programa. Nada foi alterado. Encerre-o ou escolha outra em ${variable}, por exemplo: ${variable}=${port + 1} npm start`,
  )
}

function portForbidden(port: number, variable: string): StartError {
  return new StartError(
    `Este usuário não pode abrir a porta ${port}. Nada foi alterado. Escolha em ${variable} uma porta a partir de 1024.`,
  )
}

// A machine without IPv6 answers EADDRNOTAVAIL for ::1, which is no problem.
function bindingProblem(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}
