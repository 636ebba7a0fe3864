import { beforeEach, describe, expect, test } from 'vitest'
import { toldOf } from '../companies/testing.ts'
import { documentAnnouncements } from '../documents/announcements.ts'
import { arrive, cteProc, evento, nfeProc, resNFe } from '../documents/testing.ts'
import { inCapture } from '../platform/database.ts'
import { captureAnnouncements } from './announcements.ts'
import { deliverPage } from './delivery.ts'
import { type CaptureLine, changeLine, claimLine, releaseLine } from './lease.ts'
import { ourFault } from './sources/lost.ts'
import {
  changeAfter,
  changeAfterCode,
  changeLines,
  newCompany,
  pause,
  retireLines,
  useInstallation,
} from './testing.ts'

const { ctx } = await useInstallation()

beforeEach(() => retireLines(ctx))

const claim = async (): Promise<CaptureLine> => {
  const line = await claimLine(ctx)
  if (!line) throw new Error('nothing is due')
  return line
}
let last = 0n
const deliver = (line: CaptureLine, arrivals: ReturnType<typeof arrive>[], { more = false } = {}) =>
  inCapture(ctx, async (ctx) => {
    const [before, after] =
      arrivals.length > 0 ? [arrivals[0]!.nsu - 1n, arrivals[arrivals.length - 1]!.nsu] : [last, last]
    last = after
    await changeLine(ctx, line, { last_nsu: after })
    await deliverPage(ctx, line, arrivals, { before, after, more })
  })
const notes = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => arrive(first + index, nfeProc({ number: first + index })))
const told = (workspaceId: number, what = 'captura-concluida') =>
  toldOf(ctx, { ...captureAnnouncements, ...documentAnnouncements }, workspaceId, what)

describe('documents that arrive', () => {
  test('lead to the list in which they are', () => {
    const item = (companyPublicId: string, service: 'nfe' | 'cte') => ({
      companyId: 1,
      company: 'E',
      companyPublicId,
      payload: { service, inserted: 1, completed: 0, more: false },
    })
    const linksOf = (...items: ReturnType<typeof item>[]) => {
      const { link, otherLink } = captureAnnouncements['captura-concluida']!.write(items)!
      return [link, otherLink]
    }
    expect(linksOf(item('a', 'cte'), item('a', 'cte'))).toEqual([
      '/cte?empresa=a&periodo=todos&ordem=chegada',
      undefined,
    ])
    expect(linksOf(item('a', 'nfe'), item('b', 'cte'))).toEqual([
      '/notas-fiscais?periodo=todos&ordem=chegada',
      '/cte?periodo=todos&ordem=chegada',
    ])
  })

  test('in several pages are announced together when the run ends', async () => {
    const { workspaceId } = await newCompany(ctx)
    const line = await claim()
    await deliver(line, notes(1, 50), { more: true })
    await deliver(line, notes(51, 53))
    expect(await told(workspaceId)).toEqual([
      { kind: 'sucesso', header: 'Captura concluída', body: '53 NF-e novas de EMPRESA.' },
    ])
    expect(await told(workspaceId)).toEqual([])
    // A run whose last page has nothing new, or nothing at all, has ended, too.
    await deliver(line, notes(54, 60), { more: true })
    await deliver(line, [arrive(61, nfeProc({ number: 54 }))])
    expect(await told(workspaceId)).toMatchObject([{ header: 'Captura concluída', body: '7 NF-e novas de EMPRESA.' }])
    await deliver(line, [arrive(62, nfeProc({ number: 62 }))], { more: true })
    await deliver(line, [])
    expect(await told(workspaceId)).toMatchObject([{ header: 'Captura concluída', body: '1 NF-e nova de EMPRESA.' }])
    await deliver(line, [])
    expect(await told(workspaceId)).toEqual([])
  })

  test('are named by family, and so are summaries that become complete', async () => {
    const { workspaceId } = await newCompany(ctx)
    const [first, second] = [await claim(), await claim()]
    const [nfe, cte] = first.service === 0 ? [first, second] : [second, first]
    await deliver(nfe, [arrive(1, resNFe({ number: 1 })), arrive(2, nfeProc({ number: 2 }))])
    await deliver(cte, [arrive(1, cteProc())])
    expect(await told(workspaceId)).toMatchObject([{ body: '2 NF-e e 1 CT-e novos de EMPRESA.' }])
    await deliver(nfe, [arrive(3, nfeProc({ number: 1 }))])
    expect(await told(workspaceId)).toMatchObject([{ body: '1 NF-e ficou completa: EMPRESA.' }])
    await deliver(nfe, [arrive(4, nfeProc({ number: 1 }))])
    expect(await told(workspaceId)).toEqual([])
  })

  test('while the run goes on are announced as such', async () => {
    const { workspaceId } = await newCompany(ctx)
    const line = await claim()
    await deliver(line, notes(1, 1), { more: true })
    expect(await told(workspaceId)).toMatchObject([{ header: 'Captura em andamento', body: '1 NF-e nova de EMPRESA.' }])
  })

  test('cancel a note that the company has confirmed: that is announced once', async () => {
    const { workspaceId } = await newCompany(ctx)
    const line = await claim()
    await deliver(line, [...notes(1, 3), arrive(4, evento(210200, { number: 1 }))])
    expect(await told(workspaceId, 'documento-mudou')).toEqual([])
    await deliver(line, [arrive(5, evento(110111, { number: 1 })), arrive(6, evento(110111, { number: 2 }))])
    expect(await told(workspaceId, 'documento-mudou')).toEqual([
      {
        kind: 'alert',
        header: 'Nota confirmada foi cancelada',
        body: 'A NF-e 1 de PAPELARIA SÃO JOÃO LTDA, que EMPRESA já tinha confirmado, foi cancelada por quem a emitiu. A confirmação continua guardada. Se a operação aconteceu, fale com quem emitiu.',
      },
    ])
    await deliver(line, [arrive(7, evento(110111, { number: 1 }))])
    expect(await told(workspaceId, 'documento-mudou')).toEqual([])
  })
})

const settle = (line: CaptureLine, cStat: number) =>
  inCapture(ctx, (ctx) => changeLine(ctx, line, changeAfterCode(cStat, { ult: 0 })))

describe('the state of a capture', () => {
  test('is announced when it changes, not at each retry, and when it is normal again', async () => {
    const { workspaceId } = await newCompany(ctx)
    const line = await claim()
    await settle(line, 137)
    expect(await told(workspaceId, 'captura-estado')).toEqual([])
    await settle(line, 656)
    const [blocked, ...more] = await told(workspaceId, 'captura-estado')
    expect(more).toEqual([])
    expect(blocked).toMatchObject({ kind: 'alert', header: 'Captura bloqueada pela SEFAZ' })
    expect(blocked!.body).toMatch(
      /^EMPRESA \((NF|CT)-e\): A SEFAZ bloqueou as consultas .* Nenhum documento foi pulado\.$/,
    )
    await settle(line, 656)
    await settle(line, 656)
    expect(await told(workspaceId, 'captura-estado')).toEqual([])
    await settle(line, 137)
    expect(await told(workspaceId, 'captura-estado')).toMatchObject([
      { kind: 'sucesso', header: 'Captura normalizada', body: expect.stringMatching(/EMPRESA voltou ao normal/) },
    ])
  })

  test('that came and went before it was announced is not announced', async () => {
    const { workspaceId } = await newCompany(ctx)
    const line = await claim()
    await settle(line, 108)
    await settle(line, 137)
    expect(await told(workspaceId, 'captura-estado')).toEqual([])
  })

  test('is announced with what is safe', async () => {
    const { workspaceId } = await newCompany(ctx)
    await settle(await claim(), 108)
    const [down] = await told(workspaceId, 'captura-estado')
    expect(down?.body).toMatch(
      /^EMPRESA \(.+\): O serviço da SEFAZ está fora do ar\. .+ Os documentos já guardados estão seguros\.$/,
    )
  })

  test('is announced when a turn fails, and once more when it is normal again', async () => {
    const { workspaceId } = await newCompany(ctx)
    const line = await claim()
    await releaseLine(ctx, line, changeAfter(ourFault))
    expect(await told(workspaceId, 'captura-estado')).toMatchObject([
      { header: 'Captura com falha', body: expect.stringMatching(/Os documentos já guardados estão seguros/) },
    ])
    await changeLines(ctx, "state = 'waiting', next_at = now(), allowed_at = now()")
    await settle(await claim(), 137)
    const second = await claimLine(ctx)
    if (second) await settle(second, 137)
    expect(await told(workspaceId, 'captura-estado')).toMatchObject([{ header: 'Captura normalizada' }])
  })

  test('is not announced to a workspace without a proved certificate where others have one, nor to a paused one', async () => {
    const proved = await newCompany(ctx)
    const stranger = await newCompany(ctx, { proved: false })
    const paused = await newCompany(ctx)
    await pause(ctx, paused.workspaceId)
    await settle(await claim(), 656)
    expect(await told(proved.workspaceId, 'captura-estado')).toHaveLength(1)
    expect(await told(stranger.workspaceId, 'captura-estado')).toEqual([])
    expect(await told(paused.workspaceId, 'captura-estado')).toEqual([])
  })

  test('of many companies is one sentence', () => {
    const items = [...Array(1000).keys()].map((companyId) => ({
      companyId,
      company: `E${companyId}`,
      companyPublicId: `${companyId}`,
      payload: {
        service: 'nfe',
        before: companyId < 990 ? 'waiting' : 'failed',
        state: companyId < 3 ? 'blocked' : companyId < 990 ? 'failed' : 'waiting',
        message: 'x',
      },
    }))
    expect(captureAnnouncements['captura-estado']!.write(items)).toEqual({
      kind: 'alert',
      header: 'Captura com problemas',
      body: '3 empresas com bloqueio da SEFAZ e 987 empresas com falha: E0, E1 e mais 988 empresas. Os documentos já guardados estão seguros; o motivo e o que fazer estão em Empresas. 10 outras voltaram ao normal.',
      link: '/empresas?so=problema',
    })
    expect(captureAnnouncements['captura-estado']!.write(items.slice(0, 1))?.link).toBe('/empresas/editar/0')
  })
})
