import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import { certificateForm, companyForm, enter, type SpecificationClient } from '../support/specification.ts'

const tooMuch = 1_200_000
let product: Product
let client: SpecificationClient
let file: Uint8Array
let idEmpresa: string

beforeAll(async () => {
  product = await startProduct({ roles: ['api'], simulator: { companies: [] } })
  client = await enter(product.url)
  file = await product.simulator.issueCertificate({
    cnpj: '12ABC34501DE35',
    nome: 'Padaria Aurora Ltda',
    senha: 'abc123',
  })
  const answer = await client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', {
    form: certificateForm({ file, password: 'abc123' }),
  })
  idEmpresa = answer.data.idEmpresa
})
afterAll(() => product?.[Symbol.asyncDispose]())

async function refused(method: string, path: string, body: BodyInit, type?: string, statuses = [400, 413, 415]) {
  const answer = await client.call(method, path, { raw: { body, type } })
  expect(answer.success).toBe(false)
  expect(statuses).toContain(answer.status)
  expect(answer.message).toMatch(/\S+ \S+/)
  return answer
}

// One call of a visitor and one of a session: all read their bodies in the same place.
describe.each(['/v1/api/Auth', '/v1/api/DocumentosFiscais/manifestar-nfe'])('POST %s', (path) => {
  const json = 'application/json'

  it('refuses more than 1 MB and does not call it a file', async () => {
    const long = JSON.stringify({ email: 'a'.repeat(tooMuch), senha: 'abc123', justificativa: 'a' })
    const answer = await refused('POST', path, long, json, [400, 413])
    expect(answer.message).not.toMatch(/arquivo/i)
  })

  it.each([
    ['truncated', '{"email": "ana@example.com", "senh'],
    ['an array', '[{"email": "ana@example.com", "senha": "abc123"}]'],
    ['null', 'null'],
    ['a number', '5'],
    ['a text', '"ana@example.com"'],
    ['two objects', '{}{}'],
    ['single quotes', "{'email': 'ana@example.com'}"],
    ['words', 'email=ana@example.com&senha=abc123'],
    ['XML', '<email>ana@example.com</email>'],
    ['a prototype', '{"__proto__": {"email": "ana@example.com"}, "constructor": {"prototype": {"a": 1}}}'],
    ['deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['deep arrays', '['.repeat(400_000)],
    ['empty', ''],
    ['an empty object', '{}'],
  ])('refuses JSON that is %s', async (_, body) => {
    await refused('POST', path, body, json)
  })

  it('survives half a character', async () => {
    const text = '"\\ud800@example.com"'
    const body = `{"email": ${text}, "senha": ${text}, "nome": ${text}, "urlAcesso": ${text}, "idsDFe": [${text}]}`
    expect((await client.call('POST', path, { raw: { body, type: json } })).status).toBeLessThan(500)
  })

  it('refuses bytes that are not UTF-8', async () => {
    await refused('POST', path, new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), json)
  })

  it.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'nonsense',
    'application/json; charset=utf-16',
  ])('refuses the content type %s', async (type) => {
    await refused('POST', path, '{"email": 1}', type)
  })

  it('refuses a form where JSON is expected', async () => {
    const answer = await client.call('POST', path, { form: certificateForm({ file, password: 'abc123' }) })
    expect(answer.success).toBe(false)
    expect(answer.status).toBeLessThan(500)
  })
})

it('reads JSON that names its character set', async () => {
  const body = '{"email": "ninguem@escritorio.example", "senha": "abc123"}'
  const answer = await client.call('POST', '/v1/api/Auth', { raw: { body, type: 'application/json; charset=utf-8' } })
  expect(answer.status).toBe(401)
})

describe.each([
  ['POST', 'Certificado', 'Senha'],
  ['PUT', 'CertificadoDigital.Certificado', 'CertificadoDigital.Senha'],
])('%s /v1/api/Empresas', (method, fileField, passwordField) => {
  const path = '/v1/api/Empresas'
  const base = () => (method === 'PUT' ? companyForm(idEmpresa) : new FormData())

  function withFile(content: Uint8Array, name = 'certificado.pfx', password = 'abc123'): FormData {
    const form = base()
    form.set(fileField, new Blob([new Uint8Array(content)]), name)
    form.set(passwordField, password)
    return form
  }

  async function refusedForm(form: FormData, words: RegExp) {
    const answer = await client.call(method, path, { form })
    expect(answer.success).toBe(false)
    expect([400, 413, 415, 422]).toContain(answer.status)
    expect(answer.message).toMatch(words)
  }

  it('refuses a certificate of 5 MB', async () => {
    await refusedForm(withFile(new Uint8Array(5_000_000)), /grande/)
  })

  it('refuses an empty file', async () => {
    await refusedForm(withFile(new Uint8Array(0)), /certificado|arquivo/i)
  })

  it('refuses a text that is named .pfx', async () => {
    await refusedForm(withFile(new TextEncoder().encode('Isto não é um certificado.')), /certificado|arquivo/i)
  })

  it('refuses a certificate of which half is missing', async () => {
    await refusedForm(withFile(file.subarray(0, Math.floor(file.length / 2))), /certificado|arquivo/i)
  })

  it('refuses the right file with a wrong password', async () => {
    await refusedForm(withFile(file, 'certificado.pfx', 'abc124'), /senha/i)
  })

  it('refuses a password of 100,000 characters', async () => {
    await refusedForm(withFile(file, 'certificado.pfx', 'a'.repeat(100_000)), /\S+ \S+/)
  })

  it('refuses a certificate that comes as text', async () => {
    const form = base()
    form.set(fileField, 'certificado.pfx')
    form.set(passwordField, 'abc123')
    await refusedForm(form, /certificado|arquivo/i)
  })

  it('refuses 2,000 fields and a field of 1 MB', async () => {
    const many = withFile(file)
    for (let i = 0; i < 2_000; i += 1) many.set(`campo${i}`, 'x')
    const large = withFile(file)
    large.set('RazaoSocial', 'x'.repeat(tooMuch))
    for (const form of [many, large]) {
      const answer = await client.call(method, path, { form })
      expect(answer.success).toBe(false)
      expect(answer.status).toBeLessThan(500)
    }
  })

  it.each([
    ['multipart without a boundary', 'multipart/form-data', '--x\r\n\r\n--x--'],
    ['a boundary that never comes', 'multipart/form-data; boundary=x', 'nada'],
    [
      'multipart that ends in the middle',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="Certificado"; filename="a.pfx"\r\n\r\nabc',
    ],
    ['multipart without parts', 'multipart/form-data; boundary=x', '--x--\r\n'],
    ['an empty multipart', 'multipart/form-data; boundary=x', ''],
    [
      'headers without names',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--',
    ],
    ['JSON', 'application/json', '{"Certificado": "abc", "Senha": "abc123"}'],
    ['text', 'text/plain', 'Certificado'],
    ['a form of the web', 'application/x-www-form-urlencoded', 'Certificado=a.pfx&Senha=abc123'],
  ])('refuses %s', async (_, type, body) => {
    await refused(method, path, body, type)
  })

  it('has not changed the companies', async () => {
    const { data } = await client.get<{ id: string; razaoSocial: string }[]>('/v1/api/Empresas/obter-empresas')
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({ id: idEmpresa, razaoSocial: 'Padaria Aurora Ltda' })
  })
})

it('knows the names of the fields only as they are written', async () => {
  for (const [fileField, passwordField] of [
    ['certificado', 'senha'],
    ['CERTIFICADO', 'SENHA'],
    ['file', 'password'],
  ] as const) {
    const form = new FormData()
    form.set(fileField, new Blob([new Uint8Array(file)]), 'certificado.pfx')
    form.set(passwordField, 'abc123')
    expect(await client.call('POST', '/v1/api/Empresas', { form })).toMatchObject({
      status: 400,
      errors: ['Por favor, selecione um certificado e digite a senha.'],
    })
  }
  const form = new FormData()
  for (const [name, value] of companyForm(idEmpresa, { RazaoSocial: 'Outro nome' })) form.set(name.toLowerCase(), value)
  expect(await client.call('PUT', '/v1/api/Empresas', { form })).toMatchObject({ success: false, status: 400 })
})

it('knows the names of JSON only as they are written', async () => {
  const answer = await client.call('POST', '/v1/api/Auth', { json: { Email: 'ana@example.com', SENHA: 'abc123' } })
  expect(answer).toMatchObject({ status: 400, errors: ['Email é obrigatório', 'Senha é obrigatória'] })
})

it('takes no harm from fields that nobody asked for', async () => {
  const json = { email: 'ninguem@escritorio.example', senha: 'abc123', isAdmin: true, wsId: '1', extra: [1, 2] }
  expect((await client.call('POST', '/v1/api/Auth', { json })).status).toBe(401)
})

it.each([
  ['GET', '/v1/api/Auth'],
  ['PUT', '/v1/api/Auth'],
  ['GET', '/v1/api/Usuarios'],
  ['DELETE', '/v1/api/Dashboard'],
  ['POST', '/v1/api/Dashboard'],
  ['PATCH', '/v1/api/Empresas'],
  ['GET', '/v1/api/Empresas/sincronizar'],
  ['GET', '/v1/api/DocumentosFiscais/manifestar-nfe'],
  ['GET', '/v1/api/DocumentosFiscais/danfe/'],
  ['GET', '/v1/api/Nada'],
  ['GET', '/v1/api/'],
  ['GET', '/v1/api'],
  ['POST', '/health'],
])('answers %s %s, which the specification does not know, with the envelope', async (method, path) => {
  const answer = await client.call(method, path)
  expect([404, 405]).toContain(answer.status)
})

it.each([
  `/v1/api/DocumentosFiscais/danfe/..%2f..%2fetc%2fpasswd`,
  `/v1/api/DocumentosFiscais/danfe/%00`,
  `/v1/api/DocumentosFiscais/dacte/%E0%A4%A`,
  `/v1/api/DocumentosFiscais/danfe/${'a'.repeat(5_000)}`,
  '/v1/api/RecuperarSenha/%E0%A4%A',
  '/v1/api/%',
])('answers GET %s with words', async (path) => {
  const answer = await client.call('GET', path)
  expect(answer.success).toBe(false)
  expect(answer.status).toBeLessThan(500)
})

it('still works after all that', async () => {
  await client.get('/health')
  await client.get('/v1/api/Dashboard')
  await enter(product.url)
})
