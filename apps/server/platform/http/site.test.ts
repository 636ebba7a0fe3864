import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { exampleSite, SiteSettings } from '@vigia/contract/site'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { serveSite, siteSettings } from './site.ts'

let directory: string
let app: FastifyInstance
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigia-site-'))
  app = Fastify()
  await write('index.html', '<title>%PRODUCT_NAME%</title><script type="application/json">"%SITE_SETTINGS%"</script>')
})
afterEach(async () => {
  await app.close()
  await rm(directory, { recursive: true })
})

async function write(name: string, content: string | Buffer): Promise<void> {
  await mkdir(join(directory, name, '..'), { recursive: true })
  await writeFile(join(directory, name), content)
}

const settings = (env: Record<string, string> = {}) => siteSettings(readConfig(env, directory))
const serve = (env: Record<string, string> = {}) => serveSite(app, directory, settings(env))
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
const production = {
  SEFAZ_AMBIENTE: 'producao',
  CADASTRO: 'convite',
  PLANOS: 'desligados',
  ACCEPTED_RISKS: 'demo,http,key-on-disk,no-mail,no-proxies',
}

describe('what the pages are told', () => {
  test('of a simulated installation', () => {
    expect(settings()).toEqual({
      productName: 'Vigia Fiscal',
      publicUrl: 'http://localhost:3000',
      ambiente: 'simulado',
      contactEmail: 'contato@vigiafiscal.example',
      whatsapp: null,
      cadastroAberto: true,
      planos: true,
      demo: { email: 'demo@vigiafiscal.example', senha: 'notas-em-dia' },
      ...exampleSite,
      exemplos: { numeros: true, depoimentos: true },
      senhaDoCertificadoDeTeste: 'teste-123',
      demonstracaoAberta: false,
      pesquisa: null,
      privacidade: { responsavel: null, encarregado: null, incidentes: null },
    })
  })

  test('of one that says everything', async () => {
    const site = {
      numeros: { uptime: '99,97%', notas: '3 mi', empresas: '812', suporte: '9h-18h' },
      depoimentos: Array.from({ length: 6 }, (_, n) => ({
        nome: `Pessoa ${n}`,
        papel: 'Dona',
        texto: 'Bom.',
        nota: 4,
      })),
      privacidade: { responsavel: 'Vigia Ltda, CNPJ 11.222.333/0001-81', encarregado: 'Ana, ana@b.com' },
    }
    await write('site.json', JSON.stringify(site))
    const told = settings({
      ...production,
      PRODUCT_NAME: 'Outro',
      CONTACT_EMAIL: 'a@b.com',
      CONTACT_WHATSAPP: '5511912345678',
      DEMO_EMAIL: 'demo@b.com',
      DEMO_PASSWORD: 'segredo',
      SITE_FILE: 'site.json',
      SURVEY_URL: 'https://pesquisa.exemplo.com.br/js/widget.js',
      SURVEY_ENVIRONMENT_ID: 'amb-1',
    })
    expect(told).toEqual({
      productName: 'Outro',
      publicUrl: 'http://localhost:3000',
      ambiente: 'producao',
      contactEmail: 'a@b.com',
      whatsapp: '5511912345678',
      cadastroAberto: false,
      planos: false,
      demo: { email: 'demo@b.com', senha: 'segredo' },
      numeros: site.numeros,
      depoimentos: site.depoimentos.map((one, n) => ({ ...one, empresa: '', iniciais: `P${n}` })),
      exemplos: { numeros: false, depoimentos: false },
      senhaDoCertificadoDeTeste: null,
      demonstracaoAberta: false,
      pesquisa: { endereco: 'https://pesquisa.exemplo.com.br/js/widget.js', ambiente: 'amb-1' },
      privacidade: { ...site.privacidade, incidentes: null },
    })
    expect(SiteSettings.parse(told)).toEqual(told)
  })

  test('of one that gives its figures only: the testimonials are examples still', async () => {
    const { numeros } = exampleSite
    await write('site.json', JSON.stringify({ numeros }))
    expect(settings({ SITE_FILE: 'site.json' }).exemplos).toEqual({ numeros: false, depoimentos: true })
  })
})

describe('placeholders', () => {
  const filled = async (page: string, env: Record<string, string> = {}) => {
    await write('landing.html', page)
    await serve(env)
    return (await get('/')).body
  }

  test('are filled in by the path of the setting', async () => {
    const page = [
      '%PRODUCT_NAME%|%CONTACT_EMAIL%|%AMBIENTE%|%DEMO_EMAIL%|%DEMO_SENHA%|%NUMEROS_UPTIME%|%NUMEROS_NOTAS%',
      '%DEPOIMENTOS_0_NOME%|%DEPOIMENTOS_5_NOTA%|%EXEMPLOS_NUMEROS%',
    ].join('|')
    const { numeros, depoimentos } = exampleSite
    expect(await filled(page)).toBe(
      [
        'Vigia Fiscal|contato@vigiafiscal.example|simulado|demo@vigiafiscal.example|notas-em-dia',
        `${numeros.uptime}|${numeros.notas}|${depoimentos[0]!.nome}|5|true`,
      ].join('|'),
    )
  })

  test('of what is not set, or of no setting, are nothing', async () => {
    const page = '[%CONTACT_EMAIL%][%WHATSAPP%][%DEMO_EMAIL%][%PESQUISA_ENDERECO%] 100% %OUTRA_COISA% 50%'
    expect(await filled(page, production)).toBe('[][][][] 100%  50%')
  })

  test('are written as text, whatever a setting says', async () => {
    const name = `<b>"A" & 'B'</b> %AMBIENTE% $& </script>`
    const body = await filled(
      '<a title="%PRODUCT_NAME%">%PRODUCT_NAME%</a><script type="application/json">\n "%SITE_SETTINGS%"\n</script>',
      { PRODUCT_NAME: name },
    )
    const escaped = '&#60;b&#62;&#34;A&#34; &#38; &#39;B&#39;&#60;/b&#62; %AMBIENTE% $&#38; &#60;/script&#62;'
    const [, attribute, text, json] =
      /^<a title="([^"]*)">([^<]*)<\/a><script type="application\/json">([^<]*)<\/script>$/.exec(body)!
    expect([attribute, text]).toEqual([escaped, escaped])
    expect(JSON.parse(json!)).toEqual(settings({ PRODUCT_NAME: name }))
  })
})

describe('addresses', () => {
  test.each(['/', '/?utm=1', '/dashboard', '/empresas/editar/1', '/termos', '/privacidade', '/cookies'])(
    '%s is the application where there is no page of its own',
    async (url) => {
      await serve()
      const answer = await get(url, { accept: 'text/html' })
      expect([answer.statusCode, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
      ])
      expect(answer.body).toContain('<title>Vigia Fiscal</title>')
    },
  )

  test('pages of their own are served at their addresses, and nowhere else', async () => {
    for (const name of ['landing', 'termos', 'privacidade', 'cookies'])
      await write(`${name}.html`, `${name} %PRODUCT_NAME%`)
    await serve()
    const bodies = {
      '/': 'landing',
      '/?a=1': 'landing',
      '/termos': 'termos',
      '/termos/': 'termos',
      '/privacidade': 'privacidade',
      '/cookies': 'cookies',
    }
    for (const [url, name] of Object.entries(bodies)) expect((await get(url)).body, url).toBe(`${name} Vigia Fiscal`)
    for (const url of ['/landing.html', '/termos.html', '/index.html'])
      expect((await get(url)).statusCode, url).toBe(404)
    expect((await get('/login')).body).toContain('<title>')
    expect((await app.inject({ method: 'HEAD', url: '/termos' })).statusCode).toBe(200)
  })

  test.each(['/v1/api/x', '/health', '/nota.xml', '/assets/falta.js'])('%s is not one for people', async (url) => {
    await serve()
    expect((await get(url)).statusCode).toBe(404)
  })

  test('who does not want a page gets none', async () => {
    await serve()
    expect((await get('/dashboard', { accept: 'application/json' })).statusCode).toBe(404)
  })
})

describe('compressed', () => {
  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=1.0', 'gzip'],
    ['deflate', undefined],
    ['br;q=0', undefined],
    [undefined, undefined],
  ])('a page, for who accepts %s: %s', async (accepted, encoding) => {
    await serve()
    const { rawPayload, headers } = await get('/', accepted === undefined ? {} : { 'accept-encoding': accepted })
    expect([headers['content-encoding'], headers.vary]).toEqual([encoding, 'Accept-Encoding'])
    const text =
      encoding === 'br' ? brotliDecompressSync(rawPayload) : encoding === 'gzip' ? gunzipSync(rawPayload) : rawPayload
    expect(text.toString()).toContain('<title>Vigia Fiscal</title>')
    expect(Number(headers['content-length'])).toBe(rawPayload.length)
  })

  test('a file, where a compressed one stands beside it', async () => {
    await write('assets/a.js', 'the file')
    await write('assets/a.js.br', brotliCompressSync('brotli'))
    await write('assets/a.js.gz', gzipSync('gzip'))
    await write('assets/b.js', 'alone')
    await serve()
    const [br, gzip, plain] = [
      await get('/assets/a.js', { 'accept-encoding': 'gzip, br' }),
      await get('/assets/a.js', { 'accept-encoding': 'gzip' }),
      await get('/assets/a.js'),
    ]
    expect(brotliDecompressSync(br.rawPayload).toString()).toBe('brotli')
    expect(gunzipSync(gzip.rawPayload).toString()).toBe('gzip')
    expect(plain.body).toBe('the file')
    expect([br, gzip, plain].map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip', undefined])
    for (const { headers } of [br, gzip, plain]) {
      expect(headers['content-type']).toMatch(/^(text|application)\/javascript/)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(headers.vary).toBe('Accept-Encoding')
    }
    const again = await get('/assets/a.js', {
      'accept-encoding': 'br',
      'if-none-match': `W/${br.headers.etag}, ${plain.headers.etag}`,
    })
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', br.headers.etag])
    const alone = await get('/assets/b.js', { 'accept-encoding': 'br' })
    expect([alone.body, alone.headers['content-encoding']]).toEqual(['alone', undefined])
    expect((await get('/assets/a.js.br')).statusCode).toBe(404)
  })
})

describe('the policy of the pages', () => {
  test('allows nothing from elsewhere', async () => {
    await serve()
    const policy = String((await get('/')).headers['content-security-policy'])
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("connect-src 'self';")
    expect(policy).not.toContain('http')
  })

  test('allows the origin of a survey its script and its calls, and nothing else', async () => {
    await write('assets/a.js', '')
    await serve({ SURVEY_URL: 'https://pesquisa.exemplo.com.br:8443/js/widget.js?x=1;2', SURVEY_ENVIRONMENT_ID: 'amb' })
    for (const url of ['/', '/dashboard', '/assets/a.js']) {
      const policy = String((await get(url)).headers['content-security-policy']).split('; ')
      expect(policy).toContain("script-src 'self' https://pesquisa.exemplo.com.br:8443")
      expect(policy).toContain("connect-src 'self' https://pesquisa.exemplo.com.br:8443")
      expect(policy.filter((directive) => directive.includes('http'))).toHaveLength(2)
    }
  })
})

test('the application may use the camera, other pages may not', async () => {
  for (const name of ['landing', 'termos']) await write(`${name}.html`, name)
  await serve()
  expect((await get('/notas-fiscais')).headers['permissions-policy']).toMatch(/^camera=\(self\), microphone=\(\)/)
  for (const url of ['/', '/termos']) expect((await get(url)).headers['permissions-policy'], url).toBeUndefined()
})

test('who finds a hole is told whom to write to, where somebody is named', async () => {
  await write('index.html', '<html></html>')
  await serve({ CONTACT_EMAIL: 'seguranca@exemplo.com.br', PUBLIC_URL: 'https://vigia.exemplo.com.br' })
  const response = await get('/.well-known/security.txt')
  expect(response.headers['content-type']).toMatch(/^text\/plain/)
  expect(response.body).toMatch(
    /^Contact: mailto:seguranca@exemplo.com.br\nExpires: \d{4}-\d\d-\d\dT[\d:.]+Z\nPreferred-Languages: pt-BR, en\nCanonical: https:\/\/vigia.exemplo.com.br\/.well-known\/security.txt\n$/,
  )
  const expires = Date.parse(/Expires: (\S+)/.exec(response.body)![1]!)
  expect(expires).toBeGreaterThan(Date.now())
})
