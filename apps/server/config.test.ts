import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useFolder } from '../../tests/support/folder.ts'
import { ConfigError, readConfig } from './config.ts'

const dataDir = await useFolder()
const key = Buffer.alloc(32, 7).toString('base64')

// All that production asks for.
const production = {
  SEFAZ_AMBIENTE: 'producao',
  PUBLIC_URL: 'https://vigia.exemplo.com.br',
  TRUSTED_PROXIES: '127.0.0.1',
  SMTP_URL: 'smtps://a:b@correio.exemplo.com.br',
  MAIL_FROM: 'avisos@exemplo.com.br',
  MASTER_KEY: key,
  CADASTRO: 'convite',
  PLANOS: 'desligados',
}

function problems(env: Record<string, string>, options?: { isSigner: boolean }): string[] {
  try {
    readConfig(env, '/', options)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('an empty environment is a complete simulated installation', () => {
  const config = readConfig({}, '/srv/vigia')
  expect(config).toMatchObject({
    port: 3000,
    dataDir: '/srv/vigia/data',
    publicUrl: 'http://localhost:3000',
    productName: 'Vigia Fiscal',
    demo: { email: 'demo@vigiafiscal.example', password: 'notas-em-dia' },
    sefaz: { ambiente: 'simulado', tpAmb: 1, hourMs: 60_000, marginMs: 5000 },
    simulator: { port: 3443, archiveAnswered: false },
  })
  expect(config.sefaz.caFiles).toEqual(['/srv/vigia/data/simulator/ca/root.pem'])
  expect(config.sefaz.endpoints.distribution.nfe).toBe(
    'https://localhost:3443/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
  )
  expect(config.databaseUrl).toBeUndefined()
  expect(config.masterKey).toBeUndefined()
})

test('production talks to the real authority at its real pace and has no simulator and no demo', () => {
  const config = readConfig(production, '/')
  expect(config.sefaz).toMatchObject({ tpAmb: 1, hourMs: 3_600_000, pagePauseMs: 2000, marginMs: 300_000, caFiles: [] })
  expect(config.sefaz.endpoints.distribution.cte).toContain('https://www1.cte.fazenda.gov.br/')
  expect(config.simulator).toBeNull()
  expect(config.demo).toBeNull()
})

test('outside the simulated authority the operator says who may sign up and whether there are plans', () => {
  expect(readConfig({}, '/')).toMatchObject({ signUp: 'open', plans: true })
  expect(readConfig(production, '/')).toMatchObject({ signUp: 'invitation', plans: false })
  expect(problems({ SEFAZ_AMBIENTE: 'homologacao' })).toEqual([
    expect.stringMatching(/^CADASTRO deve ser escolhido: aberto .* convite /),
    expect.stringMatching(/^PLANOS deve ser escolhido: ligados .* desligados /),
  ])
  expect(problems({ CADASTRO: 'convite', PLANOS: 'desligados' })).toHaveLength(2)
})

test('every variable arrives', () => {
  const config = readConfig(
    {
      PORT: '8080',
      DATA_DIR: 'dados',
      DATABASE_URL: 'postgres://a:b@db/vigia',
      PUBLIC_URL: 'https://vigia.exemplo.com.br/',
      PRODUCT_NAME: 'Outro Nome',
      LOG_LEVEL: 'info',
      SEFAZ_AMBIENTE: 'simulado',
      MASTER_KEY: key,
      NEW_MASTER_KEY: Buffer.alloc(32, 8).toString('base64'),
      DEMO_EMAIL: 'a@b.com',
      DEMO_PASSWORD: 'segredo',
      SMTP_URL: 'smtp://localhost:1025',
      MAIL_FROM: 'avisos@exemplo.com.br',
      SIMULATOR_PORT: '0',
      SIMULATOR_ARCHIVE: 'notas',
      SIMULATOR_ARCHIVE_ANSWERED: 'true',
    },
    '/srv',
  )
  expect(config).toMatchObject({
    port: 8080,
    dataDir: '/srv/dados',
    databaseUrl: 'postgres://a:b@db/vigia',
    publicUrl: 'https://vigia.exemplo.com.br',
    productName: 'Outro Nome',
    logLevel: 'info',
    demo: { email: 'a@b.com', password: 'segredo' },
    mail: { smtpUrl: 'smtp://localhost:1025', from: 'avisos@exemplo.com.br' },
    simulator: { port: 0, archive: '/srv/notas', archiveAnswered: true },
  })
  expect(config.masterKey).toEqual(Buffer.alloc(32, 7))
  expect(config.newMasterKey).toEqual(Buffer.alloc(32, 8))
})

test('a variable without a value is not set', () => {
  expect(readConfig({ PORT: '', SMTP_URL: '  ', MASTER_KEY: '' }, '/')).toMatchObject({ port: 3000 })
  expect(readConfig({ SMTP_URL: '' }, '/').mail.smtpUrl).toBeUndefined()
})

test('all problems are told at once, each with the name of its variable', () => {
  const found = problems({
    PORT: 'tres mil',
    SIMULATOR_PORT: '70000',
    DATABASE_URL: 'mysql://x',
    PUBLIC_URL: 'vigia',
    SEFAZ_AMBIENTE: 'producao',
    DEMO_EMAIL: 'demo',
    SMTP_URL: 'http://x',
    SIMULATOR_ARCHIVE_ANSWERED: 'talvez',
  })
  expect(found).toHaveLength(15)
  const names = [
    'CADASTRO',
    'PLANOS',
    'PORT',
    'SIMULATOR_PORT',
    'DATABASE_URL',
    'PUBLIC_URL',
    'DEMO_EMAIL',
    'SMTP_URL',
    'MAIL_FROM',
    'MASTER_KEY',
  ]
  for (const name of names) expect(found.some((problem) => problem.startsWith(name))).toBe(true)
})

test('production asks the signer for its keys, and not for what the pages and the mail need', () => {
  // Variables that deploy/vigia-signer.service names.
  const unit = {
    DATA_DIR: '/var/lib/vigia-signer',
    SIGNER_SOCKET: '/run/vigia-signer/socket',
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://vigia:x@127.0.0.1/vigia',
    SEFAZ_AMBIENTE: 'producao',
    SEFAZ_CA_FILE: '/etc/vigia/icp-brasil.pem',
  }
  expect(problems({ ...unit, MASTER_KEY: key }, { isSigner: true })).toEqual([])
  expect(problems(unit, { isSigner: true })).toEqual([expect.stringContaining('ACCEPTED_RISKS=key-on-disk')])
  expect(problems({ ...unit, MASTER_KEY: key }).map((problem) => problem.split(' ')[0])).toEqual([
    'PUBLIC_URL',
    'TRUSTED_PROXIES',
    'SMTP_URL',
    'CADASTRO',
    'PLANOS',
  ])
})

test('lists are separated by commas', () => {
  const config = readConfig(
    {
      CORS_ORIGINS: 'https://erp.exemplo.com.br, http://localhost:8080',
      TRUSTED_PROXIES: '10.0.0.0/8,::1,fd00::/8',
      WEBHOOK_HOSTS: 'erp.interno, 10.0.0.7:8443',
    },
    '/',
  )
  expect(config.corsOrigins).toEqual(['https://erp.exemplo.com.br', 'http://localhost:8080'])
  expect(config.trustedProxies).toEqual(['10.0.0.0/8', '::1', 'fd00::/8'])
  expect(config.webhookHosts).toEqual(['erp.interno', '10.0.0.7:8443'])
  expect(readConfig({}, '/')).toMatchObject({ corsOrigins: [], trustedProxies: [], webhookHosts: [] })
})

test.each([
  ['CORS_ORIGINS', 'deve ter endereços', ['*', 'exemplo.com.br', 'https://exemplo.com.br/', 'ftp://exemplo.com.br']],
  ['WEBHOOK_HOSTS', 'deve ter nomes', ['https://erp.interno', 'erp.interno/aviso', 'a@b', 'ERP']],
  ['TRUSTED_PROXIES', 'deve ter endereços IP', ['proxy', '10.0.0.0/33', '10.0.0.0/8/8', '::1/129', '10.0.0']],
  ['LISTEN_HOST', 'deve ser localhost ou um endereço IP', ['vigia.exemplo.com.br', '10.0.0', ' *']],
  ['METRICS_TOKEN', 'deve ter pelo menos 16', ['curto']],
  ['MASTER_KEY', 'deve ser a base64 de 32 bytes', ['curta']],
  ['CONTACT_WHATSAPP', 'deve ter só dígitos', ['+5511912345678', '(11) 91234-5678', '912345678', '5'.repeat(16)]],
  ['SESSION_SECONDS', 'deve ser um número inteiro de 1 a 2592000', ['2592001']],
  ['SEFAZ_AMBIENTE', 'deve ser simulado, homologacao ou producao', ['produção']],
  ['ACCEPTED_RISKS', 'deve ter nomes', ['tudo']],
])('%s %s', (name, sentence, values) => {
  for (const value of values) expect(problems({ [name]: value })[0]).toContain(`${name} ${sentence}`)
})

test('only this machine reaches the port, unless LISTEN_HOST names another address', () => {
  expect(readConfig({ PUBLIC_URL: 'https://vigia.exemplo.com.br' }, '/').listenHost).toBe('localhost')
  for (const host of ['::', '0.0.0.0', '10.0.0.5']) expect(readConfig({ LISTEN_HOST: host }, '/').listenHost).toBe(host)
})

test.each([
  ['http', { PUBLIC_URL: 'http://vigia.exemplo.com.br' }, /^PUBLIC_URL deve começar por https/],
  ['no-proxies', { TRUSTED_PROXIES: '' }, /^TRUSTED_PROXIES é obrigatória/],
  ['no-mail', { SMTP_URL: '', MAIL_FROM: '' }, /^SMTP_URL é obrigatória/],
  ['key-on-disk', { MASTER_KEY: '' }, /^MASTER_KEY \(ou .*\) é obrigatória/],
  ['demo', { DEMO_EMAIL: 'a@b.com', DEMO_PASSWORD: 'segredo' }, /^DEMO_EMAIL e DEMO_PASSWORD abrem/],
])('production is refused for %s until that risk is accepted, elsewhere it is none', (risk, env, sentence) => {
  const found = problems({ ...production, ...env })
  expect(found).toEqual([expect.stringMatching(sentence)])
  expect(found[0]).toContain(`ACCEPTED_RISKS=${risk}.`)
  expect(problems({ ...production, ...env, ACCEPTED_RISKS: risk })).toEqual([])
  expect(problems({ ...production, ...env, SEFAZ_AMBIENTE: 'homologacao' })).toEqual([])
})

test('copies have a folder and a key of their own, or neither', () => {
  const [backup, master] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')]
  expect(readConfig({}, '/').backup).toBeNull()
  expect(readConfig({ BACKUP_DIR: 'copies', BACKUP_KEY: backup, MASTER_KEY: master }, '/srv').backup).toEqual({
    directory: '/srv/copies',
    key: Buffer.alloc(32, 1),
  })
  expect(problems({ BACKUP_DIR: 'copies', BACKUP_KEY: backup, MASTER_KEY: backup })).toEqual([
    'BACKUP_KEY deve ser outra que MASTER_KEY: quem abre uma cópia não deve abrir os certificados.',
  ])
  expect(problems({ BACKUP_DIR: 'data/copies', BACKUP_KEY: backup })).toEqual([
    'BACKUP_DIR fica dentro de DATA_DIR: quem perde uma perde a outra. Use uma pasta em outro disco ou outra máquina.',
  ])
})

test.each([
  ['BACKUP_DIR', 'BACKUP_KEY', 'copies', key],
  ['DEMO_EMAIL', 'DEMO_PASSWORD', 'a@b.com', 'segredo'],
  ['SURVEY_URL', 'SURVEY_ENVIRONMENT_ID', 'https://pesquisa.exemplo.com.br/a.js', 'cm-1.x_2'],
])('%s and %s come together', (one, other, value, otherValue) => {
  const real = { SEFAZ_AMBIENTE: 'homologacao', CADASTRO: 'aberto', PLANOS: 'ligados' }
  const sentence = [`${one} e ${other} vão juntas: informe as duas ou nenhuma.`]
  expect(problems({ ...real, [one]: value })).toEqual(sentence)
  expect(problems({ ...real, [other]: otherValue })).toEqual(sentence)
  expect(problems({ ...real, [one]: value, [other]: otherValue })).toEqual([])
})

test('the operator reads what visitors write, unless somebody else is named', () => {
  expect(readConfig({ CONTACT_EMAIL: 'a@b.com' }, dataDir)).toMatchObject({ operatorEmail: 'a@b.com' })
  const env = { CONTACT_EMAIL: 'a@b.com', OPERATOR_EMAIL: 'c@d.com' }
  expect(readConfig(env, dataDir)).toMatchObject({ contactEmail: 'a@b.com', operatorEmail: 'c@d.com' })
})

test('a survey comes by https, and its environment is a name', () => {
  const survey = { SURVEY_URL: 'http://pesquisa.exemplo.com.br/a.js', SURVEY_ENVIRONMENT_ID: 'com espaço' }
  expect(problems(survey)).toEqual([
    expect.stringMatching(/^SURVEY_URL /),
    expect.stringMatching(/^SURVEY_ENVIRONMENT_ID /),
  ])
})

describe('SITE_FILE', () => {
  const person = { nome: 'Ana', papel: 'Analista', texto: 'Bom.', nota: 5 }
  const figures = { uptime: '99%', notas: '1', empresas: '2', suporte: '3' }
  const told = async (content: unknown) => {
    await writeFile(join(dataDir, 'site.json'), typeof content === 'string' ? content : JSON.stringify(content))
    const file = join(dataDir, 'site.json')
    return problems({ SITE_FILE: file }).map((problem) => problem.replace(`SITE_FILE (${file}): `, ''))
  }

  test('that cannot be read, or is no JSON, is told', async () => {
    expect(problems({ SITE_FILE: '/nada/site.json' })).toEqual([
      'SITE_FILE (/nada/site.json): não pôde ser lido (ENOENT).',
    ])
    expect(await told('{numeros}')).toEqual(['não é um arquivo JSON.'])
  })

  test('may be empty, or say one of the two', async () => {
    expect(await told({})).toEqual([])
    expect(await told({ numeros: figures })).toEqual([])
    expect(await told({ depoimentos: Array.from({ length: 6 }, () => person) })).toEqual([])
  })

  test('is told every problem, each in a sentence with its place, beside those of the variables', async () => {
    const depoimentos = [
      { ...person, nome: ' ' },
      { ...person, texto: 'x'.repeat(401) },
      { ...person, nota: 6 },
      { ...person, nota: 4.5 },
      { ...person, papel: 7, empressa: 'X' },
    ]
    const { suporte: _, ...three } = figures
    expect(await told({ numeros: { ...three, uptime: 'x'.repeat(21) }, depoimentos, numero: {} })).toEqual([
      'numeros.uptime deve ter no máximo 20.',
      'numeros.suporte falta.',
      'depoimentos.0.nome deve ter no mínimo 1.',
      'depoimentos.1.texto deve ter no máximo 400.',
      'depoimentos.2.nota deve ter no máximo 5.',
      'depoimentos.3.nota não está no formato esperado.',
      'depoimentos.4.papel não está no formato esperado.',
      'depoimentos.4 tem campos que ninguém lê: empressa.',
      'tem campos que ninguém lê: numero.',
    ])
    expect(await told({ depoimentos: [person] })).toEqual(['depoimentos deve ter no mínimo 6.'])
    expect(await told([])).toEqual(['não está no formato esperado.'])
    expect(problems({ SITE_FILE: '/nada', PORT: 'x' })).toHaveLength(2)
  })
})

test('one port cannot serve two', () => {
  expect(problems({ PORT: '3443' })[0]).toMatch(/mesma porta \(3443\)/)
  expect(problems({ PORT: '0', SIMULATOR_PORT: '0' })).toEqual([])
  expect(problems({ ...production, PORT: '3443' })).toEqual([])
})

test('the configuration cannot be changed', () => {
  const config = readConfig({}, '/')
  expect(() => Object.assign(config.sefaz, { hourMs: 1 })).toThrow(TypeError)
})

test('a login lasts thirty days at most', () => {
  expect(readConfig({}, '/').sessionMs).toBe(30 * 86_400_000)
  expect(readConfig({ SESSION_SECONDS: '2' }, '/').sessionMs).toBe(2_000)
})
