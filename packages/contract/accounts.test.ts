import { describe, expect, test } from 'vitest'
import { LoginForm, SignUpForm } from './accounts.ts'

const messages = (result: { success: boolean; error?: { issues: { message: string }[] } }) =>
  result.error?.issues.map((issue) => issue.message) ?? []

describe('login rules of section 5', () => {
  test.each([
    [{ email: '', senha: 'segredo' }, 'Email é obrigatório'],
    [{ email: '   ', senha: 'segredo' }, 'Email é obrigatório'],
    [{ senha: 'segredo' }, 'Email é obrigatório'],
    [{ email: 'ana', senha: 'segredo' }, 'Email deve ter um formato válido'],
    [{ email: 'ana@x', senha: 'segredo' }, 'Email deve ter um formato válido'],
    [{ email: 'a na@x.br', senha: 'segredo' }, 'Email deve ter um formato válido'],
    [{ email: 'ana@x.br', senha: '' }, 'Senha é obrigatória'],
    [{ email: 'ana@x.br', senha: '12345' }, 'Senha deve ter entre 6 e 100 caracteres'],
    [{ email: 'ana@x.br', senha: 'x'.repeat(101) }, 'Senha deve ter entre 6 e 100 caracteres'],
  ])('%j says %s first', (input, message) => {
    expect(messages(LoginForm.safeParse(input))[0]).toBe(message)
  })

  test('a text made to keep the pattern busy is refused at once', () => {
    const began = performance.now()
    expect(LoginForm.safeParse({ email: `a@${'.'.repeat(200_000)}@`, senha: 'segredo' }).success).toBe(false)
    expect(LoginForm.safeParse({ email: `a@${'a.'.repeat(120)}@`, senha: 'segredo' }).success).toBe(false)
    // Quadratic time would be minutes.
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  test('the e-mail is trimmed, the password is not', () => {
    expect(LoginForm.parse({ email: ' ana@x.br ', senha: ' segredo ' })).toEqual({
      email: 'ana@x.br',
      senha: ' segredo ',
    })
  })
})

describe('sign-up rules of section 5', () => {
  const good = { nome: 'Ana', email: 'ana@x.br', senha: 'segredo' }
  test.each([
    [{ nome: '' }, 'Nome é obrigatório'],
    [{ nome: 'An' }, 'Nome deve ter pelo menos 3 caracteres'],
    [{ nome: 'x'.repeat(101) }, 'Nome deve ter no máximo 100 caracteres'],
    [{ email: '' }, 'Email é obrigatório'],
    [{ email: 'ana' }, 'Email inválido'],
    [{ senha: '' }, 'Senha é obrigatória'],
    [{ senha: '12345' }, 'Senha deve ter pelo menos 6 caracteres'],
    [{ senha: 'x'.repeat(101) }, 'Senha deve ter no máximo 100 caracteres'],
    [{ celular: '119999' }, 'Número de celular deve ter entre 10 e 11 dígitos'],
    [{ celular: '119999999999' }, 'Número de celular deve ter entre 10 e 11 dígitos'],
    [{ tipoPlano: 3 }, 'Tipo de plano deve ser 1 ou 2'],
  ])('%j says %s first', (change, message) => {
    expect(messages(SignUpForm.safeParse({ ...good, ...change }))[0]).toBe(message)
  })

  test('a phone is kept as digits, and an empty one is none', () => {
    expect(SignUpForm.parse({ ...good, celular: '(11) 99999-9999' }).celular).toBe('11999999999')
    expect(SignUpForm.parse({ ...good, celular: '' }).celular).toBeUndefined()
  })

  test('the plan is 1 when nothing is said', () => {
    expect(SignUpForm.parse(good).tipoPlano).toBe(1)
  })
})
