import type { ManifestedDocument } from '@vigia/contract/manifestation'
import { expect, test } from 'vitest'
import { ApiError } from '../../lib/api.ts'
import { batches, sendInBatches } from './sending.ts'

const ids = (count: number) => Array.from({ length: count }, (_, index) => `d${index}`)
const registered = (list: string[]): ManifestedDocument[] =>
  list.map((idDfe) => ({ idDfe, chave: '', numero: 7, situacao: 'registrada', mensagem: 'Registrada.' }))
const run = (count: number, send: (batch: string[], nth: number) => ManifestedDocument[], stopAfter = Infinity) => {
  const sent: number[] = []
  const progress: number[] = []
  return sendInBatches(ids(count), {
    send: async (batch) => {
      sent.push(batch.length)
      return { message: 'feito', documents: send(batch, sent.length) }
    },
    onProgress: (done) => progress.push(done),
    stopped: () => sent.length >= stopAfter,
  }).then(({ results }) => ({ results, sent, progress, states: [...new Set(results.map(({ situacao }) => situacao))] }))
}

test('a batch holds at most 300', () => {
  expect(batches(ids(0)).map((batch) => batch.length)).toEqual([])
  expect(batches(ids(300)).map((batch) => batch.length)).toEqual([300])
  expect(batches(ids(601)).map((batch) => batch.length)).toEqual([300, 300, 1])
})

test('all batches are sent one after the other, with progress', async () => {
  const { results, sent, progress } = await run(700, registered)
  expect(sent).toEqual([300, 300, 100])
  expect(progress).toEqual([300, 600, 700])
  expect(results.map(({ idDfe }) => idDfe)).toEqual(ids(700))
})

test('a refused batch does not stop the others', async () => {
  const { results, sent } = await run(700, (batch, nth) => {
    if (nth === 2) throw new ApiError('Recusados', 409, { errors: ['A nota foi cancelada.'] })
    return registered(batch)
  })
  expect(sent).toEqual([300, 300, 100])
  expect(results[299]).toMatchObject({ situacao: 'registrada' })
  expect(results[300]).toMatchObject({ situacao: 'recusada', mensagem: 'A nota foi cancelada.', repeatable: false })
  expect(results[600]).toMatchObject({ situacao: 'registrada' })
})

test('a retryable or unreadable response does not count as a refusal', async () => {
  const riddle = 'Erro ao processar resposta da API: OK'
  for (const error of [new ApiError('Muitos pedidos', 429), new ApiError(riddle, 200), new Error('bug')]) {
    const { results, sent } = await run(700, (batch, nth) => {
      if (nth === 2) throw error
      return registered(batch)
    })
    expect(sent).toEqual([300, 300])
    expect(results[300]).toMatchObject({ situacao: 'nao-enviada', repeatable: true })
  }
})

test('a document that a successful response does not mention was accepted, with the message of the server', async () => {
  const { results } = await run(2, ([first]) => registered([first!]))
  expect(results).toEqual([
    { idDfe: 'd0', numero: 7, situacao: 'registrada', mensagem: 'Registrada.', repeatable: false },
    { idDfe: 'd1', numero: null, situacao: 'aceita', mensagem: 'feito', repeatable: false },
  ])
})

test('after a lost response nothing more is sent, and every document has a result', async () => {
  const { results, sent } = await run(900, (batch, nth) => {
    if (nth === 2) throw new ApiError('o servidor demorou', 0)
    return registered(batch)
  })
  expect(sent).toEqual([300, 300])
  expect(results).toHaveLength(900)
  expect(results[300]?.mensagem).toMatch(/^Não sabemos se o pedido chegou/)
  expect(results[899]).toMatchObject({ mensagem: 'O envio parou antes.', repeatable: true })
})

test('stopping keeps the results of what was sent', async () => {
  const { results, sent } = await run(900, registered, 1)
  expect(sent).toEqual([300])
  expect(results[0]).toMatchObject({ situacao: 'registrada' })
  expect(results[300]).toMatchObject({ situacao: 'nao-enviada', mensagem: 'O envio foi parado antes.' })
})

test('a single batch fails like any other call, and so does an ended session', async () => {
  const fail = (status: number) => () => {
    throw new ApiError('não', status)
  }
  await expect(run(3, fail(409))).rejects.toThrow('não')
  await expect(run(301, fail(401))).rejects.toThrow('não')
})

test('only refusals of the authority can be repeated', async () => {
  const { results } = await run(2, (batch) => [
    { idDfe: batch[0]!, chave: '', numero: 1, situacao: 'recusada', codigo: 999, mensagem: 'Erro não catalogado' },
    { idDfe: batch[1]!, chave: '', numero: 2, situacao: 'recusada', mensagem: 'A nota foi cancelada.' },
  ])
  expect(results.map(({ repeatable }) => repeatable)).toEqual([true, false])
})
