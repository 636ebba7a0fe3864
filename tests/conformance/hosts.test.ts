import { X509Certificate } from 'node:crypto'
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@vigia/embedded-postgres/port'
import { describeHosts, examineFile, examineHosts, fetchAuthorities, readConfig } from '@vigia/server/start'
import { type Simulator, type SimulatorOptions, start } from '@vigia/simulator/start'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { order } from '../support/authority.ts'
import { useFolder } from '../support/folder.ts'
import { atPort, leadNamesHere } from '../support/servers/official-hosts.ts'

// A host that behaves like the real ones, at the official names.
const folder = await useFolder()
const opened = new AsyncDisposableStack()
opened.use(leadNamesHere())
afterAll(() => opened.disposeAsync())
const stranger = await serveAs(undefined)

async function serveAs(as?: SimulatorOptions['hostMode']): Promise<Simulator> {
  const directory = await mkdtemp(join(folder, 'simulator-'))
  return opened.use(await start({ port: 0, directory, hostMode: as }))
}

// The root of the host is trusted, as if it were of ICP-Brasil, unless it is that of another.
async function configFor(simulator: Simulator, trusted = simulator) {
  const dataDir = await mkdtemp(join(folder, 'data-'))
  const file = join(dataDir, 'root.pem')
  await writeFile(file, trusted.ca)
  const config = readConfig(
    { SEFAZ_AMBIENTE: 'homologacao', CADASTRO: 'aberto', PLANOS: 'desligados', SEFAZ_CA_FILE: file, DATA_DIR: dataDir },
    dataDir,
  )
  const { sefaz } = atPort(config, simulator.port)
  const cteEvents = { SP: sefaz.endpoints.cteEvents.SP! }
  return { ...config, sefaz: { ...sefaz, endpoints: { ...sefaz.endpoints, cteEvents }, answerMs: 5_000 } }
}

const cases = [
  [undefined, true, /Identidade confirmada/],
  ['afterRequest', true, /certificado aceito na conexão/],
  ['unknownChain', false, /Não conseguimos confirmar a identidade/],
  ['leafOnly', false, /não mostrou o certificado da autoridade que emitiu o dele/],
  ['weakDh', false, /criptografia que se possa aceitar.*nenhum certificado precisa.*dh key too small/s],
  ['tls13', false, /criptografia que se possa aceitar.*protocol version/s],
  ['plainHttp', false, /respondeu sem criptografia/],
] as const

test.each(cases)('hosts in mode %s are told by hosts and by check FILE', async (as, ok, words) => {
  const simulator = await serveAs(as === 'unknownChain' ? undefined : as)
  const config = await configFor(simulator, as === 'unknownChain' ? stranger : simulator)
  const hosts = await examineHosts(config)
  expect(hosts.map(({ report }) => report.host.split(':')[0]).sort()).toEqual([
    'hom1.cte.fazenda.gov.br',
    'hom1.nfe.fazenda.gov.br',
    'homologacao.nfe.fazenda.sp.gov.br',
  ])
  const file = await simulator.issueCertificate({ cnpj: '44555666000181', nome: 'EMPRESA', senha: 'segredo' })
  const checked = await examineFile(config, file, 'segredo')
  expect([hosts.every((host) => host.ok), checked.ok]).toEqual([ok, ok])
  // Hosts that say the same are told once.
  if (!ok) expect(describeHosts(hosts)).toHaveLength(3)
  const told = `${hosts[0]!.lines.join('\n')}\n${checked.lines.join('\n')}`
  expect(told).toMatch(words)
  expect(checked.lines.join('\n')).toMatch(ok ? /Cadeia completa.*HTTP 200/s : words)
})

test('the 403 page of IIS reads as a certificate that was not seen or not accepted', async () => {
  const simulator = await serveAs('iis403')
  const config = await configFor(simulator)
  const file = await simulator.issueCertificate({ cnpj: '44555666000181', nome: 'EMPRESA', senha: 'segredo' })
  const { ok, lines } = await examineFile(config, file, 'segredo')
  expect([ok, lines.join('\n')]).toEqual([false, expect.stringMatching(/não viu ou não aceitou.*cadeia completa/s)])
  expect((await examineHosts(config)).every((host) => host.ok)).toBe(true)
})

test('a file of another company or of a person is told before anything leaves, one of an unknown authority by the host', async () => {
  const simulator = await serveAs()
  const config = await configFor(simulator)
  const check = (file: Uint8Array, wanted?: string) => examineFile(config, file, 'segredo', { wanted })
  const own = await simulator.issueCertificate({ cnpj: '44555666000181', nome: 'EMPRESA', senha: 'segredo' })
  expect(await check(own, '11222333000181')).toMatchObject({ ok: false, lines: [/não serve para/, /Nada foi enviado/] })
  const person = await simulator.issueCertificate({ cpf: '52998224725', nome: 'FULANO', senha: 'segredo' })
  expect((await check(person)).lines.join('\n')).toMatch(/Nada foi enviado.*e-CPF/s)
  const unknown = await stranger.issueCertificate({ cnpj: '44555666000181', nome: 'EMPRESA', senha: 'segredo' })
  const told = await check(unknown)
  expect(told.lines.join('\n')).toMatch(
    /autoridade que emitiu este certificado não é conhecida.*não viu ou não aceitou/s,
  )
})

test('a certificate that is not yet valid, revoked, or without its intermediates is told', async () => {
  const simulator = await serveAs(undefined)
  const config = await configFor(simulator)
  const holder = { cnpj: '44555666000181', nome: 'EMPRESA', senha: 'segredo' }
  const check = async (file: Uint8Array) => (await examineFile(config, file, 'segredo')).lines.join('\n')
  expect(await check(await simulator.issueCertificate({ ...holder, alone: true }))).toMatch(
    /não traz as autoridades intermediárias.*exporte-o de novo/s,
  )
  const revoked = await simulator.issueCertificate(holder)
  await order(simulator, 'revocations', { cnpj: holder.cnpj })
  expect(await check(revoked)).toMatch(/não viu ou não aceitou.*O que fazer: confira a validade, a revogação/s)
  await order(simulator, 'clock', { advanceMs: 2 * 86_400_000 })
  expect(await check(await simulator.issueCertificate(holder))).toMatch(/Nada foi enviado.*só começa a valer em/s)
})

test('a clock that is an hour off is a fault of its own', async () => {
  const simulator = await serveAs('afterRequest')
  const config = await configFor(simulator)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  onTestFinished(() => void vi.useRealTimers())
  const [host] = await examineHosts(config)
  expect([host!.ok, host!.clock]).toEqual([
    false,
    expect.stringMatching(/60 minutos à frente do servidor.*acerte o relógio/),
  ])
})

test('an authority file that was half copied is told, and no host is asked', async () => {
  const config = await configFor(stranger)
  await writeFile(config.sefaz.caFiles[0]!, stranger.ca.slice(0, 500))
  await expect(examineHosts(config)).rejects.toThrow(/root\.pem está incompleto ou danificado.*Copie-o de novo/)
})

test('the authority that a host does not send is fetched where its certificate says, and kept only if it chains to a trusted root', async () => {
  // Its certificate names the address that it had at the start before.
  const directory = await mkdtemp(join(folder, 'simulator-'))
  const port = await freePort()
  await (await start({ port, directory }))[Symbol.asyncDispose]()
  const simulator = opened.use(await start({ port, directory, hostMode: 'leafOnly' }))
  const config = await configFor(simulator)
  const fetched: string[] = []
  const fetch = async (address: string) => {
    fetched.push(address)
    if (!address.startsWith('http://localhost')) throw new Error('not reached')
    return new Uint8Array(await (await globalThis.fetch(address)).arrayBuffer())
  }
  const foreign = await configFor(simulator, stranger)
  const refused = await fetchAuthorities(foreign, { fetch })
  expect(refused.lines.join('\n')).toMatch(/não é o esperado .* não foi guardado/)
  await expect(readdir(foreign.sefaz.caFolder)).rejects.toThrow(/ENOENT/)
  const kept = await fetchAuthorities(config, { fetch })
  expect(kept.lines.join('\n')).toMatch(/Autoridade de hom1\.nfe.* conferido e guardado/)
  expect(await readdir(config.sefaz.caFolder)).toHaveLength(1)
  expect((await examineHosts(config)).every((host) => host.ok)).toBe(true)
  expect(fetched).toContain('https://repositorio.serpro.gov.br/docs/icpbrasilv5.crt')
})

test('a file in DATA_DIR is trusted only if it is pinned or chains to a trusted root', async () => {
  const config = await configFor(stranger, await serveAs(undefined))
  await mkdir(config.sefaz.caFolder)
  await writeFile(join(config.sefaz.caFolder, 'stranger.pem'), stranger.ca)
  expect((await examineHosts(config)).map(({ report }) => report.error?.kind)).toEqual(Array(3).fill('tls-chain'))
})

test('a pinned authority with another digest is not kept', async () => {
  const simulator = await serveAs()
  const config = await configFor(simulator)
  const fetch = async () => new X509Certificate(stranger.ca).raw
  const { ok, lines } = await fetchAuthorities(config, { fetch })
  expect([ok, lines.join('\n')]).toEqual([false, expect.stringMatching(/Brasileira v5: .* não é o esperado .*SHA-256/)])
  await expect(readdir(config.sefaz.caFolder)).rejects.toThrow(/ENOENT/)
})
