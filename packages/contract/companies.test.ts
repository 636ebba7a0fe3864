import { describe, expect, test } from 'vitest'
import { AnswerRuleForm, EditCompanyForm, NewCompanyForm } from './forms.ts'

const messages = (result: { success: boolean; error?: { issues: { message: string }[] } }) =>
  result.error?.issues.map((issue) => issue.message) ?? []
const pfx = new File(['x'], 'EMPRESA.PFX')

describe('new company', () => {
  test.each([
    [{ Certificado: pfx }, 'Por favor, selecione um certificado e digite a senha.'],
    [{ Senha: 'x' }, 'Por favor, selecione um certificado e digite a senha.'],
    [{ Certificado: new File(['x'], 'a.pdf'), Senha: 'x' }, 'Por favor, selecione um arquivo .pfx ou .p12'],
    [{ Certificado: pfx, Senha: 'x', Cnpj: '12ABC34501DE36' }, 'CNPJ inválido. Confira os 14 caracteres.'],
  ])('%o says %s first', (form, message) => {
    expect(messages(NewCompanyForm.safeParse(form))[0]).toBe(message)
  })

  test.each([undefined, '', ' ', '12.ABC.345/01DE-35', '12abc34501de35'])('the CNPJ of a filial may be %s', (Cnpj) => {
    expect(messages(NewCompanyForm.safeParse({ Certificado: pfx, Senha: 'x', Cnpj }))).toEqual([])
  })
})

describe('changes of a company', () => {
  const good = { IdEmpresa: 'x', RazaoSocial: 'EMPRESA ALFA' }

  test.each([
    [{ IdEmpresa: undefined }, 'Informe a empresa.'],
    [{ RazaoSocial: undefined }, 'Razão social é obrigatória'],
    [{ RazaoSocial: '  ' }, 'Razão social é obrigatória'],
    [{ RazaoSocial: 'x'.repeat(201) }, 'Razão social deve ter no máximo 200 caracteres'],
    [{ Email: 'ana@' }, 'Email inválido'],
    [{ Uf: '99' }, 'Uf deve ser o código de um estado, como 35 para São Paulo'],
    [{ Uf: '0x23' }, 'Uf deve ser o código de um estado, como 35 para São Paulo'],
    [{ Uf: [35] }, 'Uf deve ser o código de um estado, como 35 para São Paulo'],
    [{ Uf: '' }, 'Uf deve ser o código de um estado, como 35 para São Paulo'],
    [{ SincronizacaoAutomatica: 'talvez' }, 'SincronizacaoAutomatica deve ser true ou false'],
    [{ 'ConfiguracoesCte.Tomador': '' }, 'ConfiguracoesCte.Tomador deve ser true ou false'],
    [{ 'CertificadoDigital.Certificado': new File(['x'], 'a.pdf') }, 'Por favor, selecione um arquivo .pfx ou .p12'],
    [{ 'CertificadoDigital.Certificado': 'a.pfx' }, 'Por favor, selecione um arquivo .pfx ou .p12'],
  ])('%o says %s, and nothing else', (change, message) => {
    expect(messages(EditCompanyForm.safeParse({ ...good, ...change }))).toEqual([message])
  })

  test('a new certificate may come without a password', () => {
    const form = { ...good, 'CertificadoDigital.Certificado': pfx, 'CertificadoDigital.Senha': '' }
    expect(messages(EditCompanyForm.safeParse(form))).toEqual([])
  })

  test.each([
    ['true', true],
    ['True', true],
    ['1', true],
    ['on', true],
    [true, true],
    ['false', false],
    ['False', false],
    ['0', false],
    [false, false],
    [undefined, undefined],
  ])('a switch may be written %o', (text, on) => {
    const form = EditCompanyForm.parse({ ...good, 'ConfiguracoesNfe.Terceiro': text })
    expect(form['ConfiguracoesNfe.Terceiro']).toBe(on)
  })

  test('a name is one line without signs of direction', () => {
    const form = EditCompanyForm.parse({ ...good, RazaoSocial: ' \u202EEMPRESA\r\n \u2066ALFA\u2069\u202C' })
    expect(form.RazaoSocial).toBe('EMPRESA ALFA')
    const rule = { nome: '\u202Ealfa\n', condicoes: {}, resposta: 'ciencia' }
    expect(AnswerRuleForm.parse(rule).nome).toBe('alfa')
  })

  test('an e-mail may be taken out, and no file chosen is no certificate', () => {
    for (const file of [undefined, '', new File([], '')]) {
      const form = EditCompanyForm.parse({ ...good, Email: ' ', 'CertificadoDigital.Certificado': file })
      expect(form).toMatchObject({ Email: '' })
      expect(form['CertificadoDigital.Certificado']).toBeUndefined()
    }
  })
})
