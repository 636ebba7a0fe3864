import { gzipSync } from 'node:zlib'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import type { DistributionResponse } from '@vigia/sefaz/distribution'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import { openReceived } from '../documents/received/bytes.ts'
import { receivedContent } from '../documents/received/column.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { nsuText } from '../platform/service.ts'
import { newWorkspace } from '../platform/testing.ts'
import { findCertificate, type Holder } from './certificate.ts'
import { copyToOthers, listSubscribers } from './delivery.ts'
import { findPosition } from './gaps/positions.ts'
import { type CaptureLine, changeLine, claimLine, releaseLine } from './lease.ts'
import { followPlan } from './plan.ts'
import { readResponse } from './sources/soap.ts'
import { addCertificate, newCompany, retireLines, useInstallation } from './testing.ts'
import { noteQuestion, runTurn, settle, settleInterrupted } from './turn.ts'

// Workspaces with the same CNPJ are paused and go on while pages come, get lost, are given to other programs, damaged or without a position.
// Every workspace that receives in the end has everything that was ever distributed. All but the wire is the product's own.

const { ctx: opened } = await useInstallation()
// Pauses of an hour are over before the next look.
const sefaz = { ...opened.config.sefaz, hourMs: 1, pagePauseMs: 0, marginMs: 0 }
const ctx = { ...opened, config: { ...opened.config, sefaz } }
const never = new AbortController().signal

const pageSize = 3

/** The sequence of one CNPJ at the authority. */
class Authority {
  readonly documents: { xml: string; how: 'whole' | 'damaged' | 'loose' }[] = []
  cursor = 0

  publish({ how, count }: { how: 'whole' | 'damaged' | 'loose'; count: number }, serial: number): void {
    for (let n = 0; n < count; n++)
      this.documents.push({ xml: `<documento>${serial}-${this.documents.length + 1}</documento>`, how })
  }

  distNSU(ult: number): DistributionResponse {
    if (ult !== this.cursor) return this.answer(656, [])
    const page = this.documents.slice(ult, ult + pageSize)
    this.cursor += page.length
    const documents = page.map(({ xml, how }, index) => ({
      nsu: how === 'loose' ? null : nsuText(BigInt(ult + index + 1)),
      schema: 'resNFe_v1.01.xsd',
      content: how === 'damaged' ? gzipSync(xml).subarray(0, 20) : gzipSync(xml),
    }))
    return this.answer(page.length > 0 ? 138 : 137, documents)
  }

  consNSU(position: number): DistributionResponse {
    const document = this.documents[position - 1]
    if (!document) throw new Error(`nobody should ask for ${position}`)
    return this.answer(138, [
      { nsu: nsuText(BigInt(position)), schema: 'resNFe_v1.01.xsd', content: gzipSync(document.xml) },
    ])
  }

  private answer(cStat: number, documents: DistributionResponse['documents']): DistributionResponse {
    const ends = { ultNSU: nsuText(BigInt(this.cursor)), maxNSU: nsuText(BigInt(this.documents.length)) }
    return { cStat, xMotivo: `motivo ${cStat}`, documents, bytes: 10, durationMs: 1, ...ends } as DistributionResponse
  }
}

interface Member {
  workspaceId: number
  companyId: number
  paused: boolean
}

type UnderWay = { line: CaptureLine; holder: Holder; response: DistributionResponse; position: bigint | null }

type Step =
  | { do: 'publish' | 'leak'; how: 'whole' | 'damaged' | 'loose'; count: number }
  | { do: 'turn' | 'begin' | 'settle'; due: boolean }
  | { do: 'pause' | 'go on'; who: number }
  | { do: 'join'; proved: boolean }
  | { do: 'die' }

const published = {
  how: fc.constantFrom('whole', 'whole', 'damaged', 'loose'),
  count: fc.integer({ min: 1, max: 5 }),
} as const
const steps = fc.array(
  fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 2, arbitrary: fc.record({ do: fc.constant('publish'), ...published }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('leak'), ...published }) },
    { weight: 8, arbitrary: fc.record({ do: fc.constant('turn'), due: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('begin', 'settle'), due: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('die') }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('pause', 'go on'), who: fc.nat({ max: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('join'), proved: fc.boolean() }) },
  ),
  { minLength: 5, maxLength: 40 },
)

let serial = 0

class Story {
  readonly authority = new Authority()
  readonly members: Member[] = []
  private readonly serial = ++serial
  private readonly cnpj: string
  private underWay: UnderWay | null = null

  constructor() {
    const first12 = `${String(20_000_000 + serial)}0001`
    this.cnpj = first12 + cnpjCheckDigits(first12)
  }

  async join(proved: boolean): Promise<void> {
    if (this.members.length === 3) return
    const workspaceId = await newWorkspace(ctx.db)
    const company = await newCompany(ctx, { cnpj: this.cnpj, workspaceId, proved })
    await addCertificate(ctx, company, { holder: this.cnpj, key: `key ${workspaceId}`, validTo: '2099-01-01' })
    // Only one of both conversations is of this story.
    await inCapture(ctx, async ({ db }) => {
      await sql`delete from capture_subscription where line_id in (select id from capture_line where service = 2)`.execute(
        db,
      )
      await sql`update capture_line set next_at = null where service = 2`.execute(db)
    })
    this.members.push({ ...company, paused: false })
  }

  async change(who: number, paused: boolean): Promise<void> {
    const member = this.members[who % this.members.length]!
    const { workspaceId } = member
    member.paused = paused
    await inWorkspace(ctx, workspaceId, ({ db }) =>
      sql`update workspace set trial_until = now() + ${paused ? '-1 second' : '1 day'}::interval where id = ${workspaceId}`.execute(
        db,
      ),
    )
    await followPlan(ctx, workspaceId)
  }

  async carryOut(step: Step): Promise<void> {
    switch (step.do) {
      case 'publish':
        return this.authority.publish(step, this.serial)
      // Another program takes a page before us.
      case 'leak':
        this.authority.publish(step, this.serial)
        this.authority.distNSU(this.authority.cursor)
        return
      case 'pause':
        return this.change(step.who, true)
      case 'go on':
        return this.change(step.who, false)
      case 'join':
        return this.join(step.proved)
      case 'turn':
        await this.begin(step.due)
        return this.settle()
      case 'begin':
        return this.begin(step.due)
      case 'settle':
        return this.settle()
      case 'die':
        return this.die()
    }
  }

  async begin(due: boolean): Promise<void> {
    if (this.underWay) return
    await inCapture(ctx, ({ db }) =>
      sql`update capture_line
             set next_at = case when next_at is not null then now() + ${due ? '-1 second' : '1 hour'}::interval end, allowed_at = '-infinity', catch_up_at = '-infinity',
                 gap_at = gap_at - interval '1 day'
           where cnpj = ${this.cnpj} and service = 0`.execute(db),
    )
    const line = await claimLine(ctx)
    if (!line) return
    expect(
      this.members.some((one) => !one.paused),
      'somebody receives',
    ).toBe(true)
    if (line.asked) return settleInterrupted(ctx, line)
    if (line.turn === 'copies') return copyToOthers(ctx, line, never)
    if (line.turn === 'gap') return this.beginSingle(line)
    const holder = await findCertificate(ctx, line, 'Consultar documentos')
    if (!holder) return runTurn(ctx, line, never)
    this.expectReceiving(holder)
    if (!(await noteQuestion(ctx, { line, question: { after: line.lastNsu } }, holder))) return releaseLine(ctx, line)
    this.underWay = { line, holder, response: this.authority.distNSU(Number(line.lastNsu)), position: null }
  }

  private async beginSingle(line: CaptureLine): Promise<void> {
    const position = await inCapture(ctx, (ctx) => findPosition(ctx, line))
    const holder = position === null ? null : await findCertificate(ctx, line, 'Buscar documentos que faltam')
    if (position === null || !holder || !(await noteQuestion(ctx, { line, question: { at: position } }, holder))) {
      await inCapture(ctx, (ctx) => changeLine(ctx, line, { gap_at: position === null ? null : sql<Date>`now()` }))
      return releaseLine(ctx, line)
    }
    this.expectReceiving(holder)
    this.underWay = { line, holder, response: this.authority.consNSU(Number(position)), position }
  }

  private expectReceiving({ workspaceId }: Holder): void {
    expect(this.members.find((one) => one.workspaceId === workspaceId)?.paused, 'asked with').toBe(false)
  }

  async settle(): Promise<void> {
    if (!this.underWay) return
    const { line, holder, response, position } = this.underWay
    this.underWay = null
    const before = await inCapture(ctx, (ctx) => listSubscribers(ctx, line))
    const kept = before.some((one) => one.proved && !one.paused && one.deliveredNsu === line.lastNsu)
    const resting = this.members.filter((one) => kept && one.paused)
    const had = await Promise.all(resting.map((one) => this.received(one)))
    const question = position === null ? { after: line.lastNsu } : { at: position }
    const options = { holder, isEnding: false, mayTryOther: false, mayAskMore: false }
    await settle(ctx, { line, question }, readResponse(response, question), options)
    expect(await Promise.all(resting.map((one) => this.received(one))), 'who is paused').toEqual(had)
  }

  // Drops the page under way as a crashed process would: nothing is written.
  async die(): Promise<void> {
    if (!this.underWay) return
    const { id } = this.underWay.line
    this.underWay = null
    await inCapture(ctx, ({ db }) =>
      sql`update capture_line set lease_until = now() - interval '1 second' where id = ${id}`.execute(db),
    )
  }

  async received({ workspaceId, companyId }: Member): Promise<string[]> {
    const rows = await inWorkspace(ctx, workspaceId, ({ db }) =>
      db
        .selectFrom('receipt')
        .select(receivedContent(workspaceId, 'receipt').as('content'))
        .where('company_id', '=', companyId)
        .where('workspace_id', '=', workspaceId)
        .execute(),
    )
    return rows
      .map(({ content }) => unzipped(content))
      .filter((xml) => xml !== null)
      .sort()
  }

  async finish(): Promise<void> {
    await this.die()
    for (let turn = 0; turn < 400; turn++) {
      // Copies wait for what is due.
      await this.begin(turn % 2 === 0)
      await this.settle()
      if (await this.isDone()) return
    }
    throw new Error('it never ends')
  }

  private async isDone(): Promise<boolean> {
    const { rows } = await inCapture(ctx, ({ db }) =>
      sql<{ done: boolean }>`
        select l.last_nsu = ${this.authority.documents.length}::bigint
               and not exists (select 1 from capture_gap g where g.line_id = l.id and not g.lost)
               and not exists (select 1 from capture_subscription s
                                where s.line_id = l.id and not s.paused and (s.proved_at is null or s.delivered_nsu < l.last_nsu)) as done
          from capture_line l where l.cnpj = ${this.cnpj} and l.service = 0`.execute(db),
    )
    return rows[0]!.done
  }
}

function unzipped(content: Buffer): string | null {
  try {
    return openReceived(content).toString()
  } catch {
    return null
  }
}

test('every workspace that receives in the end has everything, whichever was paused, joined or queried in between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
      steps,
      fc.nat({ max: 6 }),
      async (proved, list, rests) => {
        await retireLines(ctx)
        const story = new Story()
        for (const one of proved) await story.join(one)
        for (const step of list) await story.carryOut(step)
        for (const index of story.members.keys()) await story.change(index, (rests & (1 << index)) !== 0)
        // At least one of them receives.
        if (story.members.every((one) => one.paused)) await story.change(0, false)
        await story.finish()
        const all = new Set(story.authority.documents.map(({ xml }) => xml))
        // Sets, because a document that arrived damaged may be whole in two places.
        for (const member of story.members.filter((one) => !one.paused))
          expect(new Set(await story.received(member))).toEqual(all)
      },
    ),
    { numRuns: runs(60) },
  )
}, 300_000)
