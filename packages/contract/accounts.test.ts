import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../tests/support/seed.ts'
import { ChangePasswordForm, LoginForm, NewPasswordForm, RecoveryForm, SignUpForm } from './forms.ts'

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
    [{ email: 'ana@x.br,bia@x.br', senha: 'segredo' }, 'Email deve ter um formato válido'],
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
    [{ celular: 'telefone' }, 'Número de celular deve ter entre 10 e 11 dígitos'],
    [{ celular: '119999999999' }, 'Número de celular deve ter entre 10 e 11 dígitos'],
    [{ tipoPlano: 3 }, 'Tipo de plano deve ser 1 ou 2'],
  ])('%j says %s first', (change, message) => {
    expect(messages(SignUpForm.safeParse({ ...good, ...change }))[0]).toBe(message)
  })

  test('a phone is kept as digits, and an empty one is none', () => {
    expect(SignUpForm.parse({ ...good, celular: '(11) 99999-9999' }).celular).toBe('11999999999')
    expect(SignUpForm.parse({ ...good, celular: '' }).celular).toBeUndefined()
    expect(SignUpForm.parse({ ...good, celular: '(  )      -    ' }).celular).toBeUndefined()
  })

  test('the plan is 1 when nothing is said', () => {
    expect(SignUpForm.parse(good).tipoPlano).toBe(1)
  })
})

describe('a password', () => {
  const signUp = (senha: string) => SignUpForm.safeParse({ nome: 'Ana', email: 'ana@x.br', senha })
  const logIn = (senha: string) => LoginForm.safeParse({ email: 'ana@x.br', senha })
  const replace = (senha: string, senhaNovamente = senha) =>
    NewPasswordForm.safeParse({ urlAcesso: 'x', senha, senhaNovamente })
  const change = (senha: string, senhaNovamente = senha) =>
    ChangePasswordForm.safeParse({ senhaAtual: senha, senha, senhaNovamente })
  const every = [signUp, logIn, replace, change]

  test.each([
    ['emoji, which are two units each', '🔑'.repeat(5), '🔑'.repeat(6), '🔑'.repeat(100), '🔑'.repeat(101)],
    [
      'accents apart from their letters',
      'a\u0301'.repeat(5),
      'a\u0301'.repeat(6),
      'a\u0301'.repeat(100),
      'a\u0301'.repeat(101),
    ],
    [
      'Korean in parts',
      '한'.normalize('NFD').repeat(5),
      '한'.normalize('NFD').repeat(6),
      '한'.normalize('NFD').repeat(100),
      '한'.repeat(101),
    ],
  ])('has 6 to 100 characters also of %s', (_, short, shortest, longest, long) => {
    for (const form of every) {
      expect([shortest, longest].map((senha) => form(senha).success)).toEqual([true, true])
      expect([short, long].map((senha) => form(senha).success)).toEqual([false, false])
    }
  })

  test('that one form accepts is accepted by every other, however a keyboard writes its accents', () => {
    const pieces = fc.constantFrom(
      'a',
      '🔑',
      'é',
      'e\u0301',
      '\u0301',
      'ỗ',
      '한',
      '\u1112',
      '\u1161',
      '\u0344',
      '𝅗𝅥',
      ' ',
      '\u200d',
    )
    const short = fc.array(pieces, { maxLength: 12 })
    const long = fc.array(pieces, { minLength: 90, maxLength: 110 })
    const any = fc.string({ unit: 'binary', maxLength: 120 })
    const text = fc.oneof(
      short.map((parts) => parts.join('')),
      long.map((parts) => parts.join('')),
      any,
    )
    fc.assert(
      fc.property(text, (senha) => {
        const taken = signUp(senha).success
        for (const form of every)
          for (const written of [senha, senha.normalize('NFC'), senha.normalize('NFD')])
            expect(form(written).success).toBe(taken)
      }),
      { numRuns: runs(1_000) },
    )
  })

  test('repeated by another keyboard is the same, and another one is not', () => {
    for (const form of [replace, change]) {
      expect(form('avó-de-ana', 'avo\u0301-de-ana').success).toBe(true)
      expect(messages(form('avó-de-ana', 'avô-de-ana'))).toEqual(['As senhas não coincidem'])
    }
  })

  test('that would be slow to check is refused at once', () => {
    const began = performance.now()
    const senha = `a${'\u0301\u0323'.repeat(60_000)}`
    for (const form of every) expect(form(senha).success).toBe(false)
    expect(replace('segredo', senha).success).toBe(false)
    expect(performance.now() - began).toBeLessThan(500)
  })
})

describe('an e-mail', () => {
  const taken = (email: string) => RecoveryForm.safeParse({ email }).success

  test.each(['ana@x.br', "o'hara+nfe@empresa.com.br", 'josé@açaí.example', 'a.b-c_d@x-y.co'])(
    'like %s is taken',
    (email) => {
      expect(taken(email)).toBe(true)
    },
  )

  test.each([
    ',',
    ';',
    ':',
    '<',
    '>',
    '(',
    ')',
    '[',
    ']',
    '"',
    '\\',
    '\0',
    '\x1b',
    '\x7f',
    '\x85',
    '\u200b',
    '\u200d',
    '\u00ad',
    '\u202e',
    '\u2066',
    '\u2028',
    '\ufeff',
    '\ud800',
  ])('with %j in it reaches nobody, and is refused wherever that stands', (sign) => {
    for (const email of [`a${sign}b@x.br`, `${sign}a@x.br`, `a@x${sign}y.br`, `a@x.b${sign}r`, `a@x.br${sign}c@y.br`])
      expect([email, taken(email)]).toEqual([email, email.trim() === 'a@x.br'])
  })
})

describe('a name', () => {
  const nameOf = (nome: string) => SignUpForm.safeParse({ nome, email: 'ana@x.br', senha: 'segredo' })

  test.each([
    ['  Ana   Souza ', 'Ana Souza'],
    ['Ana\r\nE-mail: outra@x.br', 'Ana E-mail: outra@x.br'],
    ['Ana\tSouza\u2028Lima\ufeff', 'Ana Souza Lima'],
    ['\u202aAna Souza\u202c', 'Ana Souza'],
    ['\u2068Ana\u2069 \u202eazuoS', 'Ana azuoS'],
    ['مها بن علي', 'مها بن علي'],
    ['李小龙', '李小龙'],
  ])('%j is kept as %j', (nome, kept) => {
    expect(nameOf(nome).data?.nome).toBe(kept)
  })

  test.each([
    '   ',
    '\u200b\u200b\u200b',
    '\u2800\u2800\u2800',
    '\u3164\u3164\u3164',
    '\u202e\u202e\u202e',
    '\u00ad\u0301\ufe0f',
    '\0\0\0',
  ])('%j shows nothing and is none', (nome) => {
    expect(messages(nameOf(nome))).toEqual(['Nome é obrigatório'])
  })

  test.each(['Ana\0Souza', 'Ana \x1b[31mSouza', 'Ana\x7f', 'Ana\x85Souza'])(
    '%j has what no keyboard sends, and is refused',
    (nome) => {
      expect(messages(nameOf(nome))).toEqual(['Nome tem caracteres que não podem ser usados'])
    },
  )

  test('a typed text becomes one line without signs of direction', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\n', '\u2028', '\u202e', '\u2067', '\x1b', 'Ana ', '  '),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (parts) => {
        const nome = nameOf(parts.join('')).data?.nome
        if (nome === undefined) return
        expect(nome).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069\u2028\u2029]|\s\s|^\s|\s$/u)
        expect(nome).toMatch(/[\p{L}\p{N}\p{P}\p{S}]/u)
      }),
      { numRuns: runs(500) },
    )
  })
})
