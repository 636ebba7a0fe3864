import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { useDatabase } from '../platform/database.testing.ts'
import { newWorkspace } from '../platform/testing.ts'
import { makeTestCertificate } from './test-certificate.ts'

// With the simulator at work: tests/conformance/newcomer.test.ts.
const { db } = await useDatabase()

const ask = (workspaceId: number, env: Record<string, string> = {}) =>
  makeTestCertificate({ db, config: readConfig({ DATA_DIR: `${tmpdir()}/nothing-here`, ...env }, '/') }, workspaceId)

test.each(['homologacao', 'producao'])('in %s there is none', async (ambiente) => {
  await expect(
    ask(await newWorkspace(db), {
      SEFAZ_AMBIENTE: ambiente,
      CADASTRO: 'convite',
      PLANOS: 'desligados',
      ACCEPTED_RISKS: 'http,key-on-disk,no-mail,no-proxies',
    }),
  ).rejects.toMatchObject({
    code: 'not-found',
    message: expect.stringMatching(/^Certificados de teste existem somente onde a SEFAZ é simulada\./),
  })
})

test('twenty are asked for in an hour by a workspace, whether the simulator answers or not', async () => {
  const workspaceId = await newWorkspace(db)
  for (let times = 1; times <= 20; times++)
    await expect(ask(workspaceId)).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterMs: 60_000,
      message: expect.stringMatching(/^A SEFAZ simulada não respondeu, .* Nada foi alterado; tente de novo/),
    })
  await expect(ask(workspaceId)).rejects.toMatchObject({ code: 'too-many', message: expect.stringMatching(/^Muitas/) })
  await expect(ask(await newWorkspace(db))).rejects.toMatchObject({ code: 'unavailable' })
})
