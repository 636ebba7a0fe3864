import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start as startSimulator } from '@vigia/simulator/start'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, type List, type ListRow, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'

const cnpj = '12ABC34501DE35'
const filial = '12ABC345000269'
let product: Product
let mine: Client
let other: Client
let companyId: string

beforeAll(async () => {
  product = await startProduct({
    // An hour that outlasts this file.
    hourMs: 600_000,
    simulator: { seed: 5, companies: [{ cnpj, nome: 'EMPRESA ALFA LTDA', uf: 'SP' }] },
  })
  mine = await newClient(product)
  other = await newClient(product)
  companyId = await mine.register(cnpj, 'EMPRESA ALFA LTDA')
  await mine.captured({ timeoutMs: 50_000 })
})
afterAll(() => product?.[Symbol.asyncDispose]())

type Fields = Record<string, string | File>

interface Detail {
  razaoSocial: string
  configuracaoNFe: Record<string, unknown>
  configuracaoCTe: Record<string, unknown>
  captura: object[]
  cienciaAutomatica: object | null
  certificado: object | null
}

function formOf(fields: Fields): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

const edit = (fields: Fields, client = mine) =>
  client.call('PUT', '/v1/api/Empresas', formOf({ IdEmpresa: companyId, RazaoSocial: 'EMPRESA ALFA LTDA', ...fields }))
const detail = async (id = companyId) =>
  (await mine.call<Detail>('GET', `/v1/api/Empresas/obter-empresa?id=${id}`)).body.data
/** Apart from what an hourly review may find out meanwhile, and from what the certificate is used for as soon as a switch is on. */
const settings = async () => {
  const company = await detail()
  return { ...company, certificado: { ...company.certificado, usos: null } }
}
const total = async (query: string) =>
  (await mine.call<List>('GET', `/v1/api/DocumentosFiscais?${query}`)).body.data.totalDeItens

async function pfx(holder: { cnpj?: string; cpf?: string; expires?: number }, senha = 'segredo'): Promise<File> {
  const bytes = await product.simulator.issueCertificate({ nome: 'EMPRESA', ...holder, senha, sharedKey: true })
  return new File([new Uint8Array(bytes)], 'empresa.pfx')
}

test('the detail answers every field of the specification', async () => {
  expect(await detail()).toEqual({
    razaoSocial: 'EMPRESA ALFA LTDA',
    cnpj,
    email: '',
    sincronizacaoAutomatica: true,
    empresaUf: { codUf: 35, uf: 'SP' },
    dataValidadeCertificadoDigital: expect.stringMatching(/^\d\d\/\d\d\/\d{4}$/),
    configuracaoNFe: {
      emitenteNFe: true,
      destinatarioNFe: true,
      transportadorNFe: true,
      terceiroNFe: true,
      manifestarCienciaAutomaticamente: false,
      ultimoNsu: expect.stringMatching(/^0*[1-9]\d*$/),
      mensagemSincronizacao: expect.stringMatching(/^Em dia\./),
    },
    configuracaoCTe: {
      emitenteCTe: true,
      remetenteCTe: true,
      destinatarioCTe: true,
      expedidorCTe: true,
      recebedorCTe: true,
      tomadorCTe: true,
      terceiroCTe: true,
      ultimoNsu: expect.stringMatching(/^0*[1-9]\d*$/),
      mensagemSincronizacao: expect.stringMatching(/^Em dia\./),
    },
    // Ours.
    ativa: true,
    captura: [
      expect.objectContaining({ servico: 'nfe', estado: 'aguardando' }),
      expect.objectContaining({ servico: 'cte', estado: 'aguardando' }),
    ],
    certificado: {
      titular: 'EMPRESA ALFA LTDA',
      cnpj,
      emissor: expect.stringMatching(/\S/),
      // An hourly review looks at it, perhaps meanwhile.
      validoDe: expect.stringMatching(/Z$/),
      validoAte: expect.stringMatching(/Z$/),
      deOutraEmpresa: false,
      enviadoPor: 'Ana Souza',
      enviadoEm: expect.stringMatching(/Z$/),
      usos: expect.arrayContaining([
        {
          quando: expect.stringMatching(/Z$/),
          servico: 'Consulta de CT-e na SEFAZ',
          finalidade: 'Consultar documentos',
        },
      ]),
    },
    cienciaAutomatica: null,
    temLogo: false,
  })
})

test('what is changed is answered, and what is not sent stays', async () => {
  const before = await settings()
  const { status, body } = await edit({
    RazaoSocial: 'EMPRESA ALFA S.A.',
    Email: 'fiscal@exemplo.com.br',
    Uf: '33',
    SincronizacaoAutomatica: 'false',
    'ConfiguracoesNfe.Transportador': 'False',
    'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': 'true',
    'ConfiguracoesCte.Expedidor': '0',
    'CertificadoDigital.Certificado': new File([], ''),
    'CertificadoDigital.Senha': '',
  })
  expect([status, body.message, body.data]).toEqual([200, 'Empresa atualizada com sucesso!', null])
  const after = await settings()
  expect(after).toEqual({
    ...before,
    razaoSocial: 'EMPRESA ALFA S.A.',
    email: 'fiscal@exemplo.com.br',
    empresaUf: { codUf: 33, uf: 'RJ' },
    sincronizacaoAutomatica: false,
    configuracaoNFe: {
      ...before.configuracaoNFe,
      transportadorNFe: false,
      manifestarCienciaAutomaticamente: true,
      mensagemSincronizacao: expect.stringMatching(/nada é capturado sozinho.*90 dias.*60 dias/),
    },
    configuracaoCTe: {
      ...before.configuracaoCTe,
      expedidorCTe: false,
      mensagemSincronizacao: expect.stringMatching(/nada é capturado sozinho.*90 dias.*60 dias/),
    },
    captura: before.captura.map((line) => ({
      ...line,
      mensagem: expect.stringMatching(/nada é capturado sozinho/),
      proximaConsulta: null,
    })),
    cienciaAutomatica: { desde: expect.stringMatching(/Z$/), por: 'Ana Souza' },
  })
  await edit({ RazaoSocial: 'EMPRESA ALFA S.A.' })
  expect(await settings()).toEqual(after)
  await edit({
    Email: '',
    Uf: '35',
    SincronizacaoAutomatica: 'true',
    'ConfiguracoesNfe.Transportador': 'true',
    'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': 'false',
    'ConfiguracoesCte.Expedidor': 'on',
  })
  expect(await settings()).toEqual(before)
})

test('certificates, webhooks, and answers to more than fifty documents want a proof of the last ten minutes', async () => {
  const account = { nome: 'Lia Prado', email: 'lia@exemplo.com.br', senha: 'segredo-da-lia' }
  const client = await newClient(product, account)
  const database = new pg.Client({ connectionString: product.databaseUrl })
  await database.connect()
  const certificate = await pfx({ cnpj: '11222333000181' })
  const upload = () => client.call('POST', '/v1/api/Empresas', formOf({ Certificado: certificate, Senha: 'segredo' }))
  const answer = (count: number) =>
    client.call('POST', '/v1/api/DocumentosFiscais/manifestar-nfe', {
      justificativa: 'Compra conhecida',
      idsDFe: Array.from({ length: count }, (_, index) => `de-ninguem-${index}`),
      tipoManifestacao: 1,
    })
  try {
    await database.query(`update session set proved_at = now() - interval '11 minutes'`)
    const refused = [
      await upload(),
      await answer(51),
      await client.call('POST', '/v1/api/Empresas/certificados-em-lote', { senhas: 'segredo', totalDeArquivos: 1 }),
      await client.call('POST', '/v1/api/Empresas/remover-certificado?id=x'),
      await edit({ 'CertificadoDigital.Certificado': certificate, 'CertificadoDigital.Senha': 'segredo' }),
      await client.call('POST', '/v1/api/Webhooks/trocar-segredo', { idWebhook: 'x' }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403])
    expect(refused[0]!.body.message).toMatch(/^Para fazer isto, confirme antes que é você/)
    expect((await answer(50)).status).toBe(404)
    expect((await client.call('POST', '/v1/api/Auth/confirmar', { senha: account.senha })).status).toBe(200)
    expect((await upload()).status).toBe(200)
    expect((await answer(51)).status).toBe(404)
  } finally {
    await database.query('update session set proved_at = now()')
    await database.end()
  }
})

test('a key that manages companies does not have them answer by themselves, unless it may answer', async () => {
  const choice = { nome: 'Cadastro', permissoes: ['empresas:ler', 'empresas:gerir'] }
  const { body } = await mine.call<{ chave: string }>('POST', '/v1/api/Chaves', choice)
  const change = (fields: Fields) =>
    fetch(new URL('/v1/api/Empresas', product.url), {
      method: 'PUT',
      headers: { authorization: `Bearer ${body.data.chave}` },
      body: formOf({ IdEmpresa: companyId, RazaoSocial: 'EMPRESA ALFA LTDA', ...fields }),
    })
  expect((await change({})).status).toBe(200)
  const refused = await change({ 'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': 'true' })
  expect(refused.status).toBe(403)
  expect(await refused.text()).toContain('não tem a permissão documentos:responder')
})

test.each([
  ['TipoDFe=0', 'ConfiguracoesNfe', ['Emitente', 'Destinatario', 'Transportador', 'Terceiro'], [0, 1, 2, 3]],
  [
    'TipoDFe=2',
    'ConfiguracoesCte',
    ['Emitente', 'Destinatario', 'Terceiro', 'Remetente', 'Expedidor', 'Recebedor', 'Tomador'],
    [0, 1, 3, 4, 5, 6, 7],
  ],
] as const)(
  '%s: with one switch on exactly the documents of that role are shown',
  async (type, group, names, codes) => {
    const whole = await total(type)
    const rolesOf = new Map<string, number[]>()
    for (const code of codes)
      for (const { idDfe } of await mine.list(`${type}&TipoParticipacao=${code}`))
        rolesOf.set(idDfe, [...(rolesOf.get(idDfe) ?? []), code])
    expect(rolesOf.size).toBe(whole)
    for (const [index, code] of codes.entries()) {
      await edit(Object.fromEntries(names.map((name, other) => [`${group}.${name}`, String(other === index)])))
      const shown = (await mine.list(type)).map((row: ListRow) => row.idDfe)
      expect(shown.sort()).toEqual(
        [...rolesOf]
          .filter(([, roles]) => roles.includes(code))
          .map(([id]) => id)
          .sort(),
      )
      const hidden = [...rolesOf.keys()].find((id) => !shown.includes(id))
      if (!hidden) continue
      const printed = await mine.call(
        'GET',
        `/v1/api/DocumentosFiscais/${group === 'ConfiguracoesNfe' ? 'danfe' : 'dacte'}/${hidden}`,
      )
      expect([printed.status, printed.body.message]).toEqual([404, 'Documento não encontrado.'])
    }
    await edit(Object.fromEntries(names.map((name) => [`${group}.${name}`, 'true'])))
    expect(await total(type)).toBe(whole)
  },
)

describe('refusals', () => {
  test('an id of another workspace, or of nobody, is not found', async () => {
    for (const id of [companyId, '1', crypto.randomUUID()]) {
      const client = id === companyId ? other : mine
      for (const answer of [
        await client.call('GET', `/v1/api/Empresas/obter-empresa?id=${id}`),
        await edit({ IdEmpresa: id }, client),
      ])
        expect([answer.status, answer.body.message]).toEqual([404, 'Empresa não encontrada.'])
    }
    expect((await detail()).razaoSocial).toBe('EMPRESA ALFA LTDA')
  })

  test('without a session nothing is answered', async () => {
    for (const [method, path] of [
      ['PUT', '/v1/api/Empresas'],
      ['GET', `/v1/api/Empresas/obter-empresa?id=${companyId}`],
    ]) {
      const response = await fetch(new URL(path!, product.url), { method })
      expect(response.status).toBe(401)
    }
  })

  test.each([
    [{ RazaoSocial: ' ' }, 'Razão social é obrigatória'],
    [{ Email: 'ana' }, 'Email inválido'],
    [{ IdEmpresa: '' }, 'Informe a empresa.'],
    [{ SincronizacaoAutomatica: 'x' }, 'SincronizacaoAutomatica deve ser true ou false'],
    [{ 'CertificadoDigital.Certificado': new File(['x'], 'a.txt') }, 'Por favor, selecione um arquivo .pfx ou .p12'],
  ] as [Fields, string][])('%o is refused with words', async (fields, message) => {
    const { status, body } = await edit(fields)
    expect([status, body.message]).toEqual([400, message])
  })

  test('each problem of a certificate has its own sentence, and nothing is changed', async () => {
    const before = await settings()
    const day = 86_400_000
    const problems: [File, string, RegExp][] = [
      [await pfx({ cnpj }), 'errada', /^A senha informada não abre este certificado\. Nada foi/],
      [new File(['x'], 'a.pfx'), 'segredo', /^Não conseguimos ler o arquivo do certificado/],
      [await pfx({ cnpj, expires: Date.now() - day }), 'segredo', /^Este certificado venceu em/],
      [await pfx({ cpf: '12345678909' }), 'segredo', /\(e-CPF\)/],
      [await pfx({ cnpj: '44555666000181' }), 'segredo', /^Este certificado é de outro CNPJ \(44\.555\.666\/0001-81\)/],
    ]
    for (const [file, senha, message] of problems) {
      const { status, body } = await edit({
        RazaoSocial: 'OUTRO NOME',
        'CertificadoDigital.Certificado': file,
        'CertificadoDigital.Senha': senha,
      })
      expect(status).toBe(400)
      expect(body.message).toMatch(message)
      expect(body.message).toMatch(/Nada foi guardado nem alterado\./)
    }
    expect(await settings()).toEqual(before)
  })
})

test('a renewed certificate takes the place of the old one, once', async () => {
  const expires = Date.parse('2077-03-09T12:00:00-03:00')
  const fields = {
    'CertificadoDigital.Certificado': await pfx({ cnpj, expires }),
    'CertificadoDigital.Senha': 'segredo',
  }
  expect((await edit(fields)).body.message).toBe('Empresa atualizada com sucesso!')
  expect(await detail()).toMatchObject({ dataValidadeCertificadoDigital: '09/03/2077' })
  const again = await edit(fields)
  expect(again.status).toBe(409)
  expect(again.body.message).toMatch(
    /^Este certificado já é o que está cadastrado nesta empresa, válido até 09\/03\/2077/,
  )
})

test('a new certificate whose password is empty needs none', async () => {
  const send = async (senha: string) =>
    edit({
      'CertificadoDigital.Certificado': await pfx({ cnpj, expires: Date.parse('2077-03-09T12:00:00-03:00') }, senha),
    })
  expect((await send('segredo')).body.message).toMatch(/^A senha informada não abre este certificado\./)
  expect((await send('')).body.message).toBe('Empresa atualizada com sucesso!')
})

test('a filial is registered with the certificate of its matriz, and captured with it', async () => {
  const register = async (fields: Fields) =>
    mine.call<{ idEmpresa: string }>(
      'POST',
      '/v1/api/Empresas',
      formOf({ Certificado: await pfx({ cnpj }), Senha: 'segredo', ...fields }),
    )
  expect((await register({ Cnpj: '12ABC345000260' })).body.message).toBe('CNPJ inválido. Confira os 14 caracteres.')
  expect((await register({ Cnpj: '44555666000181' })).body.message).toMatch(/^Este certificado é de outro CNPJ/)
  const twice = await register({})
  expect(twice.status).toBe(409)
  expect(twice.body.message).toMatch(/já está cadastrada\. Nada foi alterado\. .*informe também o CNPJ da filial\.$/)

  const { body } = await register({ Cnpj: '12.abc.345/0002-69' })
  expect(body.message).toBe('Empresa cadastrada com sucesso!')
  expect(await detail(body.data.idEmpresa)).toMatchObject({
    cnpj: filial,
    dataValidadeCertificadoDigital: '09/03/2077',
  })
  await mine.captured({ timeoutMs: 30_000 })
})

test('a demonstration that is open to anybody takes only certificates of its own authority', async () => {
  const simulator = { ...product.config.simulator!, open: true }
  // Of the same authority.
  const { sefaz } = product.config
  await using open = await startProduct({ roles: ['api'], config: { simulator, sefaz } })
  const directory = await mkdtemp(join(tmpdir(), 'vigia-other-authority-'))
  try {
    await using foreign = await startSimulator({ port: 0, directory })
    const client = await newClient({ url: open.url, simulator: foreign })
    await expect(client.register('11222333000181')).rejects.toThrow(
      /Esta é uma demonstração aberta a qualquer pessoa: ela só aceita os certificados de teste.* Nada foi guardado/,
    )
    const allowed = await newClient({ url: open.url, simulator: product.simulator })
    expect(await allowed.register('11222333000181')).toMatch(/\w/)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
