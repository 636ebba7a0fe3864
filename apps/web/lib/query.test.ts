import { describe, expect, test } from 'vitest'
import { ApiError } from './api.ts'
import { accepted, actionFailure, actionMessage, dataOf, loadFailure } from './query.ts'

const refused = { success: false, message: 'a, b', data: null, errors: ['a', 'b'] }

describe('the query helper of section 7', () => {
  test('raises the message when success is false', () => {
    expect(() => dataOf(refused)).toThrow('a, b')
    expect(dataOf({ success: true, message: '', data: [1], errors: [] })).toEqual([1])
  })

  test('fails when a response has no data', () => {
    const empty = { success: true, message: 'Operação realizada com sucesso', data: null, errors: [] }
    expect(() => dataOf(empty)).toThrow('a resposta do servidor veio vazia')
  })

  test('an action succeeds when `success` is true, whatever the data', () => {
    const empty = { success: true, message: 'feito', data: null, errors: [] }
    expect(accepted(empty)).toBe(empty)
    expect(() => accepted(refused)).toThrow('a, b')
  })

  test('shows what failed, or that it is not known', () => {
    expect(loadFailure(new ApiError('não', 400))).toBe('Erro ao carregar dados: não')
    expect(loadFailure(new ApiError('', 200))).toBe('Erro ao carregar dados: Erro desconhecido')
    expect(loadFailure('x')).toBe('Erro ao carregar dados: Erro desconhecido')
  })
})

describe('the mutation helper of section 7', () => {
  test('raises the joined errors, else the message', () => {
    expect(actionFailure(new ApiError('resumo', 200, { errors: ['a', 'b'] }))).toBe('Erro na operação: a, b')
    expect(actionFailure(new ApiError('resumo', 409))).toBe('Erro na operação: resumo')
    expect(actionFailure(new ApiError('', 200))).toBe('Erro na operação: Erro desconhecido')
  })

  test('after the last attempt the toast says how many there were; a screen shows only the reason', () => {
    const error = new ApiError('Falha após 4 tentativas. Último erro: cheio', 503, { errors: ['cheio'] })
    expect(actionFailure(error)).toBe('Erro na operação: Falha após 4 tentativas. Último erro: cheio')
    expect(actionMessage(error)).toBe('cheio')
  })

  test('a failure without a message gets that of the screen', () => {
    expect(actionMessage(new ApiError('', 200), 'Mais tarde')).toBe('Mais tarde')
    expect(actionMessage(new ApiError('', 200, { errors: [''] }), 'Mais tarde')).toBe('Mais tarde')
    expect(actionMessage(new ApiError('cheio', 200), 'Mais tarde')).toBe('cheio')
  })
})
