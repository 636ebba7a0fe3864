import { familyById } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { companyRoutes } from '../capture/company-routes.ts'
import { showOnly } from '../companies/testing.ts'
import { arrive, chaveOf, evento, nfeProc, resNFe } from '../documents/testing.ts'
import { useContext } from '../platform/database.testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import type { Session } from '../platform/http/session.ts'
import type { Service } from '../platform/service.ts'
import { testCaller } from '../platform/testing.ts'
import { noteFailure } from '../sefaz/circuit.ts'
import { previewEvents } from './candidates.ts'
import { acknowledgePending, countRefusedCiencias, tellWithheld } from './ciencia.ts'
import { readHistory } from './history.ts'
import { claimBatch } from './queue.ts'
import { type ManifestationRequest, requestEvents } from './request.ts'
import { author, cteChave, cteProc, daysAgo, newOffice, type Office, store } from './testing.ts'

const { ctx } = await useContext({ PORT: '0' })
let office: Office

beforeEach(async () => {
  await inCapture(ctx, ({ db }) => db.deleteFrom('outgoing_event').execute())
  office = await newOffice(ctx, { certificate: null })
})

const summary = (number: number, days = 2) => arrive(number, resNFe({ number, issuedAt: daysAgo(days) }))
const note = (number: number, days = 2, more = {}) =>
  arrive(number, nfeProc({ number, issuedAt: daysAgo(days), ...more }))
const answer = (nsu: number, tpEvento: number, number: number, seq = 1) => {
  const xml = evento(tpEvento, { number, seq, at: daysAgo(1) })
  return arrive(nsu, xml.replace('<CNPJ>11222333000181</CNPJ>', `<CNPJ>${author}</CNPJ>`))
}

async function idOf(chave: string, of = office): Promise<string> {
  const row = await inWorkspace(ctx, of.workspaceId, ({ db }) =>
    db.selectFrom('document').select('id').where('chave', '=', chave).executeTakeFirstOrThrow(),
  )
  return ctx.ids.encode(of.workspaceId, row.id)
}
const nfeIds = (...numbers: number[]) => Promise.all(numbers.map((number) => idOf(chaveOf({ number }))))

async function ask(
  service: Service,
  choice: number,
  documents: string[],
  { by = office.session, waitMs = 0, ...more }: Partial<ManifestationRequest> & { by?: Session; waitMs?: number } = {},
) {
  const kind = familyById(service).answers.find((kind) => kind.choice === choice)!
  const request = { service, kind, documents, justification: 'a pedido do cliente', ...more }
  return requestEvents(ctx, by, request, waitMs)
}

async function newColleague(): Promise<Session> {
  const { id } = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
    db
      .insertInto('account')
      .values({
        workspace_id: office.workspaceId,
        email: `bia${office.workspaceId}@exemplo.com.br`,
        name: 'Bia',
        password_hash: '',
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  return { ...office.session, accountId: id }
}

const rows = (of = office) =>
  inWorkspace(ctx, of.workspaceId, ({ db }) =>
    db.selectFrom('outgoing_event').selectAll().where('workspace_id', '=', of.workspaceId).orderBy('id').execute(),
  )

const settleAll = (state: 'registered' | 'rejected' | 'waiting') =>
  inWorkspace(ctx, office.workspaceId, ({ db }) =>
    db.updateTable('outgoing_event').set({ state, answered_at: new Date(), protocol: '135260000799999' }).execute(),
  )

describe('a request', () => {
  test('is written down before anything leaves, with who wanted it', async () => {
    await store(ctx, office, 'nfe', [summary(1), summary(2)])
    const outcomes = await ask('nfe', 1, await nfeIds(2, 1))
    expect(outcomes.map(({ numero, situacao }) => [numero, situacao])).toEqual([
      [2, 'enviando'],
      [1, 'enviando'],
    ])
    const written = await rows()
    expect(written).toHaveLength(2)
    expect(written[0]).toMatchObject({
      company_id: office.companyId,
      type: 0,
      cnpj: author,
      chave: chaveOf({ number: 2 }),
      tp_evento: 210210,
      sequence: 1,
      state: 'waiting',
      justification: 'a pedido do cliente',
      requested_by: office.session.accountId,
      signed_xml: null,
    })
    expect(written[0]!.why).toMatch(/^Pedida por Ana Souza em \d\d\/\d\d\/\d{4} às \d\d:\d\d\.$/)
  })

  test('of what is on its way already is said, and not repeated', async () => {
    await store(ctx, office, 'nfe', [summary(1)])
    const ids = await nfeIds(1)
    await ask('nfe', 1, ids)
    const again = await Promise.all([ask('nfe', 1, [...ids, ...ids]), ask('nfe', 1, ids, { justification: 'outra' })])
    for (const [outcome, ...more] of again) {
      expect(more).toEqual([])
      expect(outcome).toMatchObject({
        situacao: 'enviando',
        mensagem: expect.stringMatching(/^Este evento já estava em envio/),
      })
    }
    expect(await rows()).toHaveLength(1)
  })

  test('that comes again because its answer was lost is the same wish; what is registered is not asked for twice', async () => {
    await store(ctx, office, 'nfe', [note(1)])
    const ids = await nfeIds(1)
    await ask('nfe', 2, ids)
    await settleAll('registered')
    expect(await ask('nfe', 2, ids)).toMatchObject([{ situacao: 'registrada' }])
    expect(await rows()).toHaveLength(1)
    expect(await ask('nfe', 2, ids, { justification: 'agora é outra coisa' })).toMatchObject([
      { situacao: 'recusada', mensagem: 'A Confirmação desta nota já está registrada.' },
    ])
    expect(await rows()).toHaveLength(1)
  })

  test.each([
    ['nfe', [2, 3, 2], [210200, 210220, 210200]],
    ['cte', [610110, 610111, 610110], [610110, 610111, 610110]],
  ] as const)('of %s %j: the last one counts, on its way or registered', async (service, choices, codes) => {
    for (const settled of [false, true]) {
      await inCapture(ctx, ({ db }) => db.deleteFrom('outgoing_event').execute())
      const number = settled ? 2 : 1
      const cte = { number, issuer: '11222333000181', payer: author }
      const document = service === 'nfe' ? note(number) : arrive(number, cteProc(cte))
      await store(ctx, office, service, [document])
      const ids = service === 'nfe' ? await nfeIds(number) : [await idOf(cteChave(cte))]
      for (const choice of choices) {
        expect(await ask(service, choice, ids)).toMatchObject([{ mensagem: 'Na fila de envio à SEFAZ.' }])
        if (settled) await settleAll('registered')
      }
      expect((await rows()).map((row) => [row.tp_evento, row.sequence])).toEqual(
        codes.map((code, index) => [code, index === 2 ? 2 : 1]),
      )
    }
  })

  test('that is repeated by itself does not win over what somebody else said in between', async () => {
    await store(ctx, office, 'nfe', [note(1)])
    const ids = await nfeIds(1)
    const [first] = await ask('nfe', 2, ids)
    const colleague = await newColleague()
    await ask('nfe', 3, ids, { by: colleague })
    for (const state of ['waiting', 'registered'] as const) {
      await settleAll(state)
      expect(await ask('nfe', 2, ids)).toMatchObject([
        { ...first, mensagem: expect.anything(), situacao: expect.anything() },
      ])
      expect((await rows()).map((row) => row.tp_evento)).toEqual([210200, 210220])
    }
    // Said anew, it is another wish.
    await ask('nfe', 2, ids, { justification: 'depois de conferir, confirmo' })
    expect((await rows()).map((row) => [row.tp_evento, row.sequence])).toEqual([
      [210200, 1],
      [210220, 1],
      [210200, 2],
    ])
  })

  test('that takes the place of a Ciência which met a block of the author waits for its end', async () => {
    await store(ctx, office, 'nfe', [note(1)])
    const ids = await nfeIds(1)
    await ask('nfe', 1, ids)
    await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      sql`update outgoing_event set c_stat = 656, next_at = now() + interval '50 minutes'`.execute(db),
    )
    await ask('nfe', 2, ids)
    expect((await rows()).map((row) => [row.tp_evento, row.state, row.c_stat, row.message])).toEqual([
      [
        210210,
        'rejected',
        null,
        'Substituída pela resposta pedida depois (Confirmação da Operação): a Ciência não foi enviada.',
      ],
      [210200, 'waiting', 656, 'Na fila de envio à SEFAZ.'],
    ])
    expect(await claimBatch(ctx)).toBeNull()
  })

  test('that cannot leave now says why and until when, and nobody waits for it', async () => {
    await store(ctx, office, 'nfe', [note(1), note(2)])
    const [one = '', two = ''] = await nfeIds(1, 2)
    await noteFailure(ctx, ctx.config.sefaz.endpoints.manifestation, 'Servico Paralisado', 600_000)
    const [outcome] = await ask('nfe', 2, [one], { waitMs: 120_000 })
    expect(outcome).toMatchObject({
      situacao: 'enviando',
      mensagem: expect.stringMatching(/^O serviço da SEFAZ está fora do ar .*: Servico Paralisado\. O evento continua/),
    })
    const leaves = async (id: string) => {
      const { eventos } = await readHistory(ctx, office.workspaceId, id)
      const { proximoEnvio, mensagem } = eventos.at(-1)!
      return { minutes: Math.round((Date.parse(proximoEnvio!) - Date.now()) / 60_000), mensagem }
    }
    expect(await leaves(one)).toEqual({ minutes: 10, mensagem: outcome!.mensagem })
    await ctx.db.deleteFrom('circuit').execute()
    expect((await leaves(one)).mensagem).toBe('Na fila de envio à SEFAZ.')

    // In another workspace of the same CNPJ the authority blocked the author.
    const other = await newOffice(ctx, { certificate: null })
    await store(ctx, other, 'nfe', [note(1)])
    await ask('nfe', 2, [await idOf(chaveOf(), other)], { by: other.session })
    await inWorkspace(ctx, other.workspaceId, ({ db }) =>
      db
        .updateTable('outgoing_event')
        .set({ c_stat: 656, next_at: sql<Date>`now() + interval '50 minutes'` })
        .execute(),
    )
    expect(await ask('nfe', 2, [two], { waitMs: 120_000 })).toMatchObject([
      { mensagem: expect.stringMatching(/^A SEFAZ bloqueou por uma hora/) },
    ])
    expect(await leaves(two)).toMatchObject({ minutes: 50 })

    await inCapture(ctx, ({ db }) =>
      sql`update outgoing_event set c_stat = null, next_at = now() + interval '30 minutes'`.execute(db),
    )
    expect(await ask('nfe', 3, [two], { waitMs: 120_000 })).toMatchObject([
      { mensagem: expect.stringMatching(/depois de um evento anterior/) },
    ])
    expect(await leaves(two)).toMatchObject({ minutes: 30 })
  })
})

test('what the authority refused ten times today is not sent an eleventh time', async () => {
  await store(ctx, office, 'nfe', [note(1), note(2)])
  const ids = await nfeIds(1, 2)
  for (let time = 0; time < 10; time++) {
    expect(await ask('nfe', 2, ids.slice(0, 1))).toMatchObject([{ situacao: 'enviando' }])
    await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      db.updateTable('outgoing_event').set({ state: 'rejected', c_stat: 596, answered_at: new Date() }).execute(),
    )
  }
  expect(await ask('nfe', 2, ids)).toMatchObject([
    { situacao: 'recusada', mensagem: expect.stringMatching(/bloquearia os envios/) },
    { situacao: 'enviando' },
  ])
})

describe('what may not be sent', () => {
  test('is refused with the reason and leaves no trace, beside what may, as the preview says before', async () => {
    const cancelled = [note(2), arrive(20, evento(110111, { number: 2, at: daysAgo(1) }))]
    const others = note(3, 2, { recipient: '33444555000181' })
    await store(ctx, office, 'nfe', [note(1), ...cancelled, others, note(4), answer(21, 210200, 4), note(5, 30)])
    const documents = await nfeIds(1, 2, 3, 4, 5)
    const kind = familyById('nfe').answers.find(({ choice }) => choice === 1)!
    const foretold = await previewEvents(ctx, office.session, { service: 'nfe', kind, documents })
    expect(await rows()).toEqual([])
    const outcomes = await ask('nfe', 1, documents)
    expect(foretold.permitidos).toEqual(documents.slice(0, 1))
    expect(foretold.impedidos.map(({ numero, motivo }) => [numero, motivo])).toEqual(
      outcomes.slice(1).map(({ numero, mensagem }) => [numero, mensagem]),
    )
    expect(outcomes.map(({ situacao, mensagem }) => [situacao, mensagem])).toEqual([
      ['enviando', 'Na fila de envio à SEFAZ.'],
      ['recusada', 'A nota foi cancelada pelo emitente: não há mais o que manifestar.'],
      ['recusada', 'Só o destinatário da nota pode manifestar; a sua empresa não é a destinatária.'],
      ['recusada', 'A nota já tem uma manifestação final, que vale mais do que a Ciência.'],
      ['recusada', expect.stringMatching(/^O prazo deste evento terminou em /)],
    ])
    expect((await rows()).map((row) => row.chave)).toEqual([chaveOf({ number: 1 })])
  })

  test.each([
    [
      'an id of the other family',
      async () => {
        await store(ctx, office, 'cte', [arrive(1, cteProc())])
        return [await idOf(cteChave())]
      },
    ],
    [
      'a document that the switches hide',
      async () => {
        await store(ctx, office, 'nfe', [summary(7)])
        const ids = await nfeIds(7)
        await showOnly(ctx.db, office.workspaceId, { nfe: 511 & ~(1 << 1) })
        return ids
      },
    ],
  ])('%s is not found, and refuses all', async (_, makeIds) => {
    await store(ctx, office, 'nfe', [note(1, 2, { carrier: author })])
    const ids = [...(await nfeIds(1)), ...(await makeIds())]
    await expect(ask('nfe', 2, ids)).rejects.toMatchObject({ code: 'not-found', message: 'Documento não encontrado.' })
    expect(await rows()).toEqual([])
  })

  test.each([
    [
      'nfe',
      4,
      'curta 12',
      'A justificativa de Operação não Realizada precisa ter de 15 a 255 caracteres (até 200 neste formulário), e tem 8.',
    ],
    [
      'cte',
      1,
      'curta',
      'A justificativa do Cancelamento precisa ter de 15 a 255 caracteres (até 200 neste formulário), e tem 5.',
    ],
    ['cte', 610110, 'curta', 'A justificativa da Prestação em Desacordo precisa ter de 15 a 255 caracteres, e tem 5.'],
    ['nfe', 4, 'mercadoria devolvida 📦', 'A SEFAZ não aceita estes caracteres: 📦.'],
    ['nfe', 3, 'não conhecemos esta operação ☹', 'A SEFAZ não aceita estes caracteres: ☹.'],
  ] as const)('%s %i "%s"', async (service, choice, justification, message) => {
    await store(ctx, office, 'nfe', [note(1)])
    await expect(ask(service, choice, await nfeIds(1), { justification })).rejects.toMatchObject({
      code: 'invalid-input',
      message,
    })
  })

  test('words that the event has no place for are kept with our row, whatever they are', async () => {
    await store(ctx, office, 'nfe', [note(1), note(2)])
    await ask('nfe', 2, await nfeIds(1), { justification: 'ok 📦' })
    await ask('nfe', 3, await nfeIds(2), { justification: 'não é' })
    expect((await rows()).map((row) => row.justification)).toEqual(['ok 📦', 'não é'])
  })
})

describe('a Carta de Correção', () => {
  const correction = { grupoAlterado: 'compl', campoAlterado: 'xObs', valorAlterado: 'AGENDAR' }
  beforeEach(() => store(ctx, office, 'cte', [arrive(1, cteProc())]))

  test('of one free text corrects the observation', async () => {
    await ask('cte', 2, [await idOf(cteChave())], { justification: 'ENTREGA – COM AGENDAMENTO' })
    const expected = [{ ...correction, valorAlterado: 'ENTREGA - COM AGENDAMENTO' }]
    expect((await rows())[0]).toMatchObject({ tp_evento: 110110, sequence: 1, corrections: expected })
  })

  test.each([
    [[{ ...correction, grupoAlterado: 'emit', campoAlterado: 'CNPJ' }], /^O campo emit\/CNPJ não pode ser corrigido/],
    [[{ ...correction, grupoAlterado: 'ICMS00', campoAlterado: 'vbc' }], /^O campo ICMS00\/vbc não pode/],
    [[correction, { ...correction, valorAlterado: 'OUTRO' }], /^O campo compl\/xObs aparece duas vezes/],
    [[{ ...correction, valorAlterado: '\u200b' }], /está vazio/],
    [[{ ...correction, valorAlterado: '…'.repeat(300) }], /pode ter 500 caracteres, e este fica com 900/],
  ])('%j is refused before sending, by name', async (corrections, message) => {
    const id = await idOf(cteChave())
    await expect(ask('cte', 2, [id], { corrections })).rejects.toThrow(message)
    expect(await rows()).toEqual([])
  })

  test('bars the cancellation, also while it is on its way', async () => {
    const id = await idOf(cteChave())
    await ask('cte', 2, [id])
    const justification = 'o serviço não começou'
    expect(await ask('cte', 1, [id], { justification })).toMatchObject([
      { situacao: 'recusada', mensagem: expect.stringMatching(/Carta de Correção/) },
    ])
  })

  test('of the same words is sent once, however late it is asked for again; of others in between it is sent anew', async () => {
    const id = await idOf(cteChave())
    const askLater = async (justification: string) => {
      const [outcome] = await ask('cte', 2, [id], { justification })
      const requested_at = new Date(Date.now() - 10 * 60_000)
      await inWorkspace(ctx, office.workspaceId, ({ db }) =>
        db.updateTable('outgoing_event').set({ state: 'registered', requested_at }).execute(),
      )
      return outcome
    }
    await askLater('AGENDAR')
    expect(await askLater('AGENDAR')).toMatchObject({ situacao: 'registrada' })
    expect(await rows()).toHaveLength(1)
    await askLater('NÃO AGENDAR')
    await askLater('AGENDAR')
    expect((await rows()).map((row) => row.sequence)).toEqual([1, 2, 3])
  })

  test('that another system numbered takes the next number, and bars the cancellation', async () => {
    const id = await idOf(cteChave())
    await ask('cte', 2, [id])
    await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      db.updateTable('outgoing_event').set({ state: 'rejected', c_stat: 631 }).execute(),
    )
    expect(await ask('cte', 1, [id])).toMatchObject([{ situacao: 'recusada' }])
    await ask('cte', 2, [id])
    expect((await rows()).map((row) => row.sequence)).toEqual([1, 2])
  })
})

test('the history of a document tells what left, why, and what may still be sent until when', async () => {
  const issuedAt = daysAgo(2)
  await store(ctx, office, 'nfe', [arrive(1, resNFe({ issuedAt }))])
  const [id = ''] = await nfeIds(1)
  await ask('nfe', 1, [id])
  const { eventos, opcoes } = await readHistory(ctx, office.workspaceId, id)
  const motivo = expect.stringMatching(/^Pedida por Ana/)
  expect(eventos).toMatchObject([{ tpEvento: 210210, situacao: 'aguardando', motivo }])
  const day = 86_400_000
  expect(opcoes.map(({ tpEvento, prazo, impedimento }) => [tpEvento, Date.parse(prazo!), impedimento])).toEqual([
    [210210, Date.parse(issuedAt) + 10 * day, 'A Ciência desta nota já está em envio.'],
    ...[210200, 210220, 210240].map((tpEvento) => [tpEvento, Date.parse(issuedAt) + 90 * day, null]),
  ])
  const other = await newOffice(ctx, { certificate: null })
  await expect(readHistory(ctx, other.workspaceId, id)).rejects.toMatchObject({ code: 'not-found' })
})

describe('the automatic Ciência', () => {
  const turnOn = (since: Date | null = new Date('2026-11-20T10:05:00-03:00')) =>
    inWorkspace(ctx, office.workspaceId, ({ db }) =>
      db.updateTable('company').set({ acknowledges_since: since, acknowledges_by: office.session.accountId }).execute(),
    )
  const acknowledge = () => acknowledgePending(ctx, office.workspaceId, office.companyId)

  test('is not given unless somebody wanted it', async () => {
    await store(ctx, office, 'nfe', [summary(1)])
    expect(await acknowledge()).toBe(0)
    expect(await rows()).toEqual([])
  })

  test('does not begin while the workspace is paused', async () => {
    await store(ctx, office, 'nfe', [summary(1)])
    await turnOn()
    const pause = (at: Date | null) =>
      inWorkspace(ctx, office.workspaceId, ({ db }) => db.updateTable('workspace').set({ paused_at: at }).execute())
    await pause(new Date())
    expect(await acknowledge()).toBe(0)
    await pause(null)
    expect(await acknowledge()).toBe(1)
  })

  test('is given once about what only the summary is here of, and says why', async () => {
    await store(ctx, office, 'nfe', [summary(1), summary(2, 9.9), note(3)])
    await turnOn()
    expect(await acknowledge()).toBe(2)
    expect(await Promise.all([acknowledge(), acknowledge()])).toEqual([0, 0])
    const written = await rows()
    expect(written.map((row) => row.chave).sort()).toEqual([chaveOf({ number: 1 }), chaveOf({ number: 2 })].sort())
    expect(written[0]).toMatchObject({
      tp_evento: 210210,
      sequence: 1,
      requested_by: null,
      justification: null,
      why: 'Ciência automática, ligada em 20/11/2026 às 10:05 por Ana Souza.',
    })
    await settleAll('rejected')
    expect(await acknowledge()).toBe(0)
  })

  test('that was refused for good is not tried again; otherwise it is, a day later, and the company tells how many', async () => {
    await store(ctx, office, 'nfe', [summary(2), summary(1, 3)])
    await turnOn()
    await acknowledge()
    const refuse = (number: number, c_stat: number) =>
      inWorkspace(ctx, office.workspaceId, ({ db }) =>
        db
          .updateTable('outgoing_event')
          .set({ state: 'rejected', c_stat, answered_at: sql<Date>`now() - interval '25 hours'` })
          .where('chave', '=', chaveOf({ number }))
          .where('state', '=', 'waiting')
          .execute(),
      )
    await inCapture(ctx, async ({ db }) => {
      await sql`insert into capture_line (service, cnpj) values (0, ${author}) on conflict do nothing`.execute(db)
      await sql`insert into capture_subscription (line_id, workspace_id, company_id, proved_at)
                select id, ${office.workspaceId}, ${office.companyId}, now() from capture_line where service = 0 and cnpj = ${author}`.execute(
        db,
      )
    })
    const told = async () => {
      const input = { params: undefined, query: {}, body: undefined, form: undefined }
      const companies = JSON.stringify(
        await companyRoutes(countRefusedCiencias)[0]!.run(ctx, input, office.session, testCaller),
      )
      return /(\d+) ciências? automáticas? (foi|foram) recusadas?/.exec(companies)?.[1]
    }
    expect(await told()).toBeUndefined()
    await refuse(1, 596)
    await refuse(2, 578)
    expect(await told()).toBe('2')
    expect(await acknowledge()).toBe(1)
    expect((await rows()).map((row) => row.chave)).toEqual([1, 2, 2].map((number) => chaveOf({ number })))
    await refuse(2, 578)
    await settleAll('rejected')
    expect(await acknowledge()).toBe(0)
    await store(ctx, office, 'nfe', [arrive(9, nfeProc({ number: 1, issuedAt: daysAgo(3) }))])
    expect(await told()).toBe('1')
  })

  test('waits for a person while an alert stands against it, and the person is told when three days are left', async () => {
    await store(ctx, office, 'nfe', [summary(1, 2), summary(2, 8), summary(3, 2)])
    await turnOn()
    const doubt = (numbers: number[], table: 'document' | 'supplier' = 'document') =>
      inWorkspace(ctx, office.workspaceId, async ({ db }) => {
        await sql`update document set suspect = ${table === 'document'} and number = any (${numbers}::int[])`.execute(
          db,
        )
        await sql`update supplier set suspect = ${table === 'supplier'}`.execute(db)
      })
    await doubt([1, 2])
    expect(await acknowledge()).toBe(1)
    const told = async () => {
      await tellWithheld(ctx, office.workspaceId)
      const { rows } = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
        sql<{
          number: number
        }>`select (payload ->> 'number')::int as number from happening where what = 'ciencia-retida'`.execute(db),
      )
      return rows.map(({ number }) => number)
    }
    expect(await told()).toEqual([2])
    expect(await told()).toEqual([2])
    await doubt([], 'supplier')
    expect(await acknowledge()).toBe(0)
    await doubt([])
    expect(await acknowledge()).toBe(2)
  })

  test('is never given about what is cancelled, denied, late, answered, being answered or hidden', async () => {
    const gone = [arrive(1, resNFe({ number: 1, issuedAt: daysAgo(2), cSitNFe: '3' }))]
    gone.push(arrive(2, resNFe({ number: 2, issuedAt: daysAgo(2), cSitNFe: '2' })))
    const cancelledLater = [summary(3), arrive(30, evento(110111, { number: 3, at: daysAgo(1) }))]
    const lateByMinutes = summary(4, 10 - 0.5 / 24)
    const answered = [summary(5), answer(50, 210220, 5), summary(6), answer(60, 210210, 6)]
    await store(ctx, office, 'nfe', [...gone, ...cancelledLater, lateByMinutes, ...answered, summary(7)])
    await ask('nfe', 2, await nfeIds(7))
    await turnOn()
    expect(await acknowledge()).toBe(0)
    await store(ctx, office, 'nfe', [summary(8)])
    await showOnly(ctx.db, office.workspaceId, { nfe: 511 & ~2 })
    expect(await acknowledge()).toBe(0)
    await showOnly(ctx.db, office.workspaceId, { nfe: 2 })
    expect(await acknowledge()).toBe(1)
  })
})
