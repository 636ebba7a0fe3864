import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import {
  type CompanyDetail,
  certificateForm,
  companyForm,
  enter,
  logIn,
  openClient,
  type SpecificationClient,
  somebody,
} from '../support/specification.ts'

let product: Product
let visitor: SpecificationClient

beforeAll(async () => {
  product = await startProduct({ roles: ['api'], simulator: { companies: [] } })
  visitor = openClient(product.url)
})
afterAll(() => product?.[Symbol.asyncDispose]())

const missing = [undefined, null, '']

// What somebody sets; the rest moves with the first capture, which is under way.
function settings(company: CompanyDetail): unknown {
  const { razaoSocial, email, sincronizacaoAutomatica, empresaUf, configuracaoNFe, configuracaoCTe } = company
  const moving = { ultimoNsu: null, mensagemSincronizacao: null }
  const switches = { nfe: { ...configuracaoNFe, ...moving }, cte: { ...configuracaoCTe, ...moving } }
  return { razaoSocial, email, sincronizacaoAutomatica, empresaUf, ...switches }
}

type Refusal = [changes: Record<string, unknown>, message: string]

describe('login', () => {
  const known = somebody()
  beforeAll(() => openClient(product.url).post('/v1/api/Usuarios', known))
  const logInWith = (json: unknown) => visitor.call('POST', '/v1/api/Auth', { json })

  it.each([...missing, '   '])('asks for the e-mail instead of %j', async (email) => {
    const answer = await logInWith({ email, senha: 'notas-2026' })
    expect(answer).toMatchObject({ status: 400, errors: ['Email é obrigatório'] })
  })

  it.each(['ana', 'ana@', '@example.com', 'a na@example.com', 'ana@example', 5, {}, ['ana@example.com']])(
    'refuses the e-mail %j',
    async (email) => {
      const answer = await logInWith({ email, senha: 'notas-2026' })
      expect(answer.status).toBe(400)
      if (typeof email === 'string') expect(answer.errors).toEqual(['Email deve ter um formato válido'])
    },
  )

  it.each(missing)('asks for the password instead of %j', async (senha) => {
    expect(await logInWith({ email: known.email, senha })).toMatchObject({
      status: 400,
      errors: ['Senha é obrigatória'],
    })
  })

  it.each(['12345', 'x'.repeat(101)])('refuses a password of the wrong length: %s', async (senha) => {
    expect(await logInWith({ email: known.email, senha })).toMatchObject({
      status: 400,
      errors: ['Senha deve ter entre 6 e 100 caracteres'],
    })
  })

  it('names every mistake at once', async () => {
    const answer = await logInWith({})
    expect(answer.errors).toEqual(['Email é obrigatório', 'Senha é obrigatória'])
  })

  it('answers the same to a wrong password and to an unknown e-mail', async () => {
    const wrong = await logInWith({ email: known.email, senha: 'outra-senha' })
    const unknown = await logInWith({ email: 'ninguem@escritorio.example', senha: 'outra-senha' })
    expect(wrong).toMatchObject({ status: 401, message: 'Credenciais inválidas.' })
    expect({ ...unknown, headers: null }).toEqual({ ...wrong, headers: null })
  })
})

describe('sign-up', () => {
  const signUp = (changes: Record<string, unknown>) =>
    visitor.call('POST', '/v1/api/Usuarios', { json: { ...somebody(), ...changes } })
  const tooShort = 'Nome deve ter pelo menos 3 caracteres'
  const tooLong = 'Nome deve ter no máximo 100 caracteres'
  const phone = 'Número de celular deve ter entre 10 e 11 dígitos'

  it.each<Refusal>([
    ...missing.map((nome) => [{ nome }, 'Nome é obrigatório'] as Refusal),
    [{ nome: 'Jo' }, tooShort],
    [{ nome: 'x'.repeat(101) }, tooLong],
    ...missing.map((email) => [{ email }, 'Email é obrigatório'] as Refusal),
    [{ email: 'ana' }, 'Email inválido'],
    [{ email: 'ana souza@example.com' }, 'Email inválido'],
    ...missing.map((senha) => [{ senha }, 'Senha é obrigatória'] as Refusal),
    [{ senha: '12345' }, 'Senha deve ter pelo menos 6 caracteres'],
    [{ senha: 'x'.repeat(101) }, 'Senha deve ter no máximo 100 caracteres'],
    [{ celular: '119876543' }, phone],
    [{ celular: '119876543210' }, phone],
    [{ celular: 'telefone' }, phone],
  ])('refuses %j', async (changes, message) => {
    expect(await signUp(changes)).toMatchObject({ success: false, status: 400, errors: [message] })
  })

  it.each([
    { nome: 'Ana' },
    { nome: 'x'.repeat(100) },
    { nome: 'João D’Ávila 🧾' },
    { senha: 'x7-9qa' },
    { senha: 'x'.repeat(100) },
    { celular: '' },
    { celular: undefined },
    { celular: '1133334444' },
    { celular: '11987654321' },
    { celular: '(11) 98765-4321' },
    { tipoPlano: 1 },
    { tipoPlano: 2 },
  ])('accepts %j', async (changes) => {
    expect(await signUp(changes)).toMatchObject({
      success: true,
      message: 'Conta criada com sucesso! Faça login para continuar.',
    })
  })

  it.each([
    { nome: 5 },
    { nome: {} },
    { nome: ['Ana', 'Souza'] },
    { nome: '   ' },
    { nome: 'Ana\0Souza' },
    { email: ['a@example.com'] },
    { email: `${'a'.repeat(2_000)}@example.com` },
    { email: 'ana\0@example.com' },
    { email: 'ana@example.com\r\nBcc: todos@example.com' },
    { senha: 123456 },
    { senha: {} },
    { celular: 11987654321 },
    { celular: [] },
    { tipoPlano: 0 },
    { tipoPlano: 3 },
    { tipoPlano: 99 },
    { tipoPlano: -1 },
    { tipoPlano: 1.5 },
    { tipoPlano: 'dois' },
    { tipoPlano: null },
  ])('refuses %j and keeps standing', async (changes) => {
    expect(await signUp(changes)).toMatchObject({ success: false, status: 400 })
  })

  it('takes the blanks of a password for characters', async () => {
    const person = somebody({ senha: '  seis 6  ' })
    await visitor.post('/v1/api/Usuarios', person)
    const trimmed = await visitor.call('POST', '/v1/api/Auth', { json: { email: person.email, senha: 'seis 6' } })
    expect(trimmed.status).toBe(401)
    expect((await logIn(product.url, person)).token).toMatch(/\S/)
  })

  it('tells capitals in a password apart', async () => {
    const person = somebody({ senha: 'Notas-2026' })
    await visitor.post('/v1/api/Usuarios', person)
    const json = { email: person.email, senha: 'notas-2026' }
    expect((await visitor.call('POST', '/v1/api/Auth', { json })).status).toBe(401)
  })

  it('answers the same to an e-mail that is taken, and changes nothing', async () => {
    const person = somebody()
    const first = await visitor.call('POST', '/v1/api/Usuarios', { json: person })
    const other = { ...person, nome: 'Outra Pessoa', senha: 'tomada-2026' }
    const second = await visitor.call('POST', '/v1/api/Usuarios', { json: other })
    const third = await visitor.call('POST', '/v1/api/Usuarios', {
      json: { ...other, email: person.email.toUpperCase() },
    })
    for (const answer of [second, third]) expect({ ...answer, headers: null }).toEqual({ ...first, headers: null })
    expect((await visitor.call('POST', '/v1/api/Auth', { json: other })).status).toBe(401)
    expect((await logIn(product.url, person)).token).toMatch(/\S/)
  })

  it('makes one account of twenty sign-ups at the same time', async () => {
    const person = somebody()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => visitor.call('POST', '/v1/api/Usuarios', { json: person })),
    )
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.message}`)).size).toBe(1)
    expect((await logIn(product.url, person)).token).toMatch(/\S/)
  })
})

describe('recovery', () => {
  const recover = (json: unknown) => visitor.call('POST', '/v1/api/RecuperarSenha', { json })
  const update = (json: unknown) => visitor.call('POST', '/v1/api/RecuperarSenha/atualizar-senha', { json })

  it.each([...missing, '  '])('asks for the e-mail instead of %j', async (email) => {
    expect(await recover({ email })).toMatchObject({ status: 400, errors: ['Email é obrigatório'] })
  })

  it.each(['ana', 'ana@', 'a na@example.com'])('refuses the e-mail %j', async (email) => {
    expect(await recover({ email })).toMatchObject({ status: 400, errors: ['Email deve ter um formato válido'] })
  })

  it('answers the same to a known and to an unknown e-mail', async () => {
    const person = somebody()
    await visitor.post('/v1/api/Usuarios', person)
    const known = await recover({ email: person.email })
    const unknown = await recover({ email: 'ninguem@escritorio.example' })
    expect(known).toMatchObject({ status: 200, message: 'Iremos enviar um email de recuperação de senha!' })
    expect({ ...unknown, headers: null }).toEqual({ ...known, headers: null })
  })

  it.each(['x', 'A'.repeat(43), '..%2F..%2Fetc', '%00', 'a'.repeat(3_000), encodeURIComponent('ção')])(
    'does not know the link %s',
    async (token) => {
      const answer = await visitor.call('GET', `/v1/api/RecuperarSenha/${token}`)
      expect(answer.success).toBe(false)
      expect(answer.status).toBeLessThan(500)
    },
  )

  it.each<Refusal>([
    ...missing.map((senha) => [{ senha }, 'Nova senha é obrigatória'] as Refusal),
    [{ senha: '12345', senhaNovamente: '12345' }, 'A senha deve ter pelo menos 6 caracteres'],
    [{ senhaNovamente: 'diferente' }, 'As senhas não coincidem'],
  ])('refuses %j', async (changes, message) => {
    const answer = await update({
      urlAcesso: 'A'.repeat(43),
      senha: 'nova-2026',
      senhaNovamente: 'nova-2026',
      ...changes,
    })
    expect(answer.status).toBe(400)
    expect(answer.errors).toContain(message)
  })

  it.each([
    { urlAcesso: 'A'.repeat(43) },
    { urlAcesso: '' },
    { urlAcesso: undefined },
    { urlAcesso: null },
    { urlAcesso: 5 },
    { urlAcesso: {} },
    { urlAcesso: '\0' },
    { urlAcesso: 'a'.repeat(10_000) },
  ])('changes nothing with %j', async (changes) => {
    const answer = await update({ senha: 'nova-2026', senhaNovamente: 'nova-2026', ...changes })
    expect(answer.success).toBe(false)
    expect(answer.status).toBeLessThan(500)
  })
})

describe('company', () => {
  const noFile = 'Por favor, selecione um certificado e digite a senha.'
  const wrongFile = 'Por favor, selecione um arquivo .pfx ou .p12'
  let client: SpecificationClient
  let file: Uint8Array
  let idEmpresa: string
  beforeAll(async () => {
    client = await enter(product.url)
    const company = { cnpj: '12ABC34501DE35', nome: 'Padaria Aurora Ltda' }
    file = await product.simulator.issueCertificate({ ...company, senha: 'abc123', sharedKey: true })
    const form = certificateForm({ file, name: 'certificação.p12', password: 'abc123' })
    const answer = await client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', { form })
    idEmpresa = answer.data.idEmpresa
  })
  const create = (form: FormData) => client.call('POST', '/v1/api/Empresas', { form })
  const edit = (changes: Record<string, string | Blob | undefined>) =>
    client.call('PUT', '/v1/api/Empresas', { form: companyForm(idEmpresa, changes) })

  it('needs a certificate and a password', async () => {
    const onlyPassword = new FormData()
    onlyPassword.set('Senha', 'abc123')
    for (const form of [
      new FormData(),
      onlyPassword,
      certificateForm({ file }),
      certificateForm({ file, password: '' }),
    ]) {
      expect(await create(form)).toMatchObject({ success: false, status: 400, errors: [noFile] })
    }
  })

  it.each(['certificado.txt', 'certificado', 'pfx', 'certificado.pfx.exe'])('refuses the file %s', async (name) => {
    const answer = await create(certificateForm({ file, name, password: 'abc123' }))
    expect(answer).toMatchObject({ success: false, status: 400, errors: [wrongFile] })
  })

  it('says that the password is wrong', async () => {
    const answer = await create(certificateForm({ file, password: 'errada' }))
    expect(answer).toMatchObject({ success: false, message: expect.stringMatching(/senha/i) })
    expect(answer.status).toBeLessThan(500)
  })

  it('does not register a company twice', async () => {
    const answer = await create(certificateForm({ file, password: 'abc123' }))
    expect(answer.success).toBe(false)
    expect(answer.status).toBeLessThan(500)
    expect((await client.get<unknown[]>('/v1/api/Empresas/obter-empresas')).data).toHaveLength(1)
  })

  it.each([
    [{ RazaoSocial: '' }, 'Razão social é obrigatória'],
    [{ RazaoSocial: '   ' }, 'Razão social é obrigatória'],
    [{ RazaoSocial: undefined }, 'Razão social é obrigatória'],
    [{ Email: 'sem-arroba' }, 'Email inválido'],
  ])('refuses an edit with %j', async (changes, message) => {
    expect(await edit(changes)).toMatchObject({ success: false, status: 400, errors: [message] })
  })

  it.each([
    { Uf: 'SP' },
    { Uf: '0' },
    { Uf: '99' },
    { SincronizacaoAutomatica: 'talvez' },
    { 'ConfiguracoesNfe.Emitente': '2' },
    { RazaoSocial: 'x'.repeat(5_000) },
    { RazaoSocial: 'a\0b' },
    { Email: `${'a'.repeat(2_000)}@example.com` },
  ])('refuses an edit with %j in words', async (changes) => {
    expect(await edit(changes)).toMatchObject({ success: false, status: 400 })
  })

  it.each(['Email', 'Uf', 'SincronizacaoAutomatica', 'ConfiguracoesNfe.Emitente', 'ConfiguracoesCte.Tomador'])(
    'does not change in silence what an edit leaves out: %s',
    async (name) => {
      await edit({ Uf: '29' })
      const before = await client.get<CompanyDetail>('/v1/api/Empresas/obter-empresa', { id: idEmpresa })
      const answer = await edit({ Uf: '29', [name]: undefined })
      expect([200, 400]).toContain(answer.status)
      const after = await client.get<CompanyDetail>('/v1/api/Empresas/obter-empresa', { id: idEmpresa })
      expect(settings(after.data)).toEqual(settings(before.data))
    },
  )

  it('refuses a new certificate without its password, under another name, or with a wrong password', async () => {
    const certificate = new Blob([new Uint8Array(file)])
    const name = 'CertificadoDigital.Certificado'
    // A file may have an empty password: the server tries it.
    expect((await edit({ [name]: certificate })).message).toMatch(/^A senha informada não abre este certificado\./)
    const wrong = await edit({ [name]: certificate, 'CertificadoDigital.Senha': 'errada' })
    expect(wrong).toMatchObject({ success: false, message: expect.stringMatching(/senha/i) })
    const form = companyForm(idEmpresa, { 'CertificadoDigital.Senha': 'abc123' })
    form.set(name, certificate, 'certificado.txt')
    expect(await client.call('PUT', '/v1/api/Empresas', { form })).toMatchObject({ status: 400, errors: [wrongFile] })
  })

  it('does not know a company that is not there', async () => {
    const message = 'Empresa não encontrada.'
    for (const id of ['nada', '0', '00000000-0000-4000-8000-000000000000', '9'.repeat(40), "'", '\0']) {
      const detail = await client.call('GET', '/v1/api/Empresas/obter-empresa', { query: { id } })
      const put = await client.call('PUT', '/v1/api/Empresas', { form: companyForm(id) })
      const sync = await client.call('POST', '/v1/api/Empresas/sincronizar', { query: { idEmpresa: id } })
      for (const answer of [detail, put, sync]) {
        if (id === '\0') expect([400, 404]).toContain(answer.status)
        else expect(answer).toMatchObject({ success: false, status: 404, message })
      }
    }
  })

  it.each(['', undefined])('asks for the company instead of %j', async (id) => {
    const detail = await client.call('GET', '/v1/api/Empresas/obter-empresa', { query: { id } })
    const sync = await client.call('POST', '/v1/api/Empresas/sincronizar', { query: { idEmpresa: id } })
    const put = await client.call('PUT', '/v1/api/Empresas', { form: companyForm('', { IdEmpresa: id }) })
    for (const answer of [detail, sync, put]) expect([400, 404]).toContain(answer.status)
  })
})
