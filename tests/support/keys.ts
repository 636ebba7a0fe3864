import { cpSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '@vigia/simulator/start'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder with the key pairs of a simulated authority and of its certificates. */
    testKeys: string
  }
}

// Slow parts of a simulator: an RSA key pair takes up to 200 ms, and each simulator needs seven.
const kept = ['ca', 'signers', 'keys']

/** Called by Vitest once for each project that names this file: the first makes the key pairs that all simulators of the run share. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject()
  if (run.getProvidedContext().testKeys) return
  const directory = await mkdtemp(join(tmpdir(), 'vigia-keys-'))
  const holder = { cnpj: '12ABC34501DE35', nome: 'EMPRESA EXEMPLO LTDA', uf: 'SP' }
  await using simulator = await start({ port: 0, directory, companies: [holder], documentsEach: 1 })
  await simulator.issueCertificate({ ...holder, senha: 'segredo', sharedKey: true })
  run.provide('testKeys', directory)
  return () => rm(directory, { recursive: true, force: true })
}

/** Puts the key pairs of this run into the `directory` of a simulator that did not start yet, and returns it. */
export function withTestKeys(directory: string): string {
  for (const folder of kept) cpSync(join(inject('testKeys'), folder), join(directory, folder), { recursive: true })
  return directory
}
