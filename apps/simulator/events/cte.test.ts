import { chaveCheckDigit } from '@vigia/dfe/chave'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasSchemas, schema } from '../../../tests/support/judges.ts'
import type { IssuedCertificate } from '../certificates.ts'
import { dateTimeWithOffset } from '../clock.ts'
import {
  type CteEvent,
  cteEvent,
  type EventBench,
  type EventResponse,
  envelope,
  headers,
  openBench,
  post,
} from '../events.testing.ts'
import type { GeneratedCte } from '../generate/cte.ts'
import { cteCancellationDetail, cteCorrectionDetail } from '../generate/events.ts'
import { eventServices } from './services.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const dayMs = 86_400_000
let bench: EventBench
const answers: EventResponse[] = []

beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.test.stop())

const pathOf = (authorizer: string) => `/${authorizer}/CTeRecepcaoEventoV4`
const authorizers: Record<string, string> = {
  41: 'PR',
  42: 'SVRS',
  43: 'SVRS',
  35: 'SP',
  26: 'SP',
  31: 'MG',
  51: 'MT',
  50: 'MS',
}

async function sendXml(xml: string, path: string): Promise<EventResponse> {
  const answer = await post(bench.client, 'cte', path, xml)
  answers.push(answer)
  return answer
}

type Order = Partial<CteEvent> & { author: string; tpEvento: number; detail: string }

const signed = async (cte: GeneratedCte, order: Order, signer?: IssuedCertificate) =>
  cteEvent({ chave: cte.chave, ...order }, signer ?? (await bench.signer(order.author)), bench.now())

async function send(cte: GeneratedCte, order: Order, signer?: IssuedCertificate) {
  const chave = order.chave ?? cte.chave
  const { results } = await sendXml(await signed(cte, order, signer), pathOf(authorizers[chave.slice(0, 2)] ?? 'PR'))
  return results[0]
}

const cancellation = (cte: GeneratedCte, nProt = cte.nProt): Order => ({
  author: cte.carrier.cnpj,
  tpEvento: 110111,
  detail: cteCancellationDetail(nProt).detail,
})
const correction = (
  cte: GeneratedCte,
  detail = cteCorrectionDetail('ENTREGA SOMENTE COM AGENDAMENTO').detail,
): Order => ({
  author: cte.carrier.cnpj,
  tpEvento: 110110,
  detail,
})
const complaint = (cte: GeneratedCte & { tomador: string }): Order => ({
  author: cte.tomador,
  tpEvento: 610110,
  detail:
    '<evPrestDesacordo><descEvento>Prestação do Serviço em Desacordo</descEvento><indDesacordoOper>1</indDesacordoOper><xObs>Valor do frete diverge da tabela</xObs></evPrestDesacordo>',
})
const withdrawal = (cte: GeneratedCte & { tomador: string }, nProt: string): Order => ({
  author: cte.tomador,
  tpEvento: 610111,
  detail: `<evCancPrestDesacordo><descEvento>Cancelamento Prestacao do Servico em Desacordo</descEvento><nProtEvPrestDes>${nProt}</nProtEvPrestDes></evCancPrestDesacordo>`,
})

describe('the authorisers', () => {
  it.each([
    ['PR', 'PR'],
    ['SC', 'SVRS'],
    ['RS', 'SVRS'],
    ['SP', 'SP'],
    ['PE', 'SP'],
    ['MG', 'MG'],
    ['MT', 'MT'],
    ['MS', 'MS'],
  ])('a CT-e of %s is served by %s alone', async (uf, authorizer) => {
    const cte = await bench.freight({ uf })
    const event = await signed(cte, cancellation(cte))
    const services = eventServices.filter((one) => one.service === 'cte')
    for (const other of services.filter((one) => one.authorizer !== authorizer)) {
      expect((await sendXml(event, other.path)).results[0]).toMatchObject({ cStat: '410' })
    }
    const own = services.find((one) => one.authorizer === authorizer)
    const answer = await sendXml(event, own?.otherPaths[0] ?? '')
    expect(answer.http.body).toContain(
      '<soap:Body><cteRecepcaoEventoResult xmlns="http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4"><retEventoCTe ',
    )
    expect(answer.results[0]).toMatchObject({
      cStat: '135',
      cOrgao: cte.chave.slice(0, 2),
      nProt: expect.stringMatching(/^\d{15}$/),
      xEvento: 'Cancelamento',
    })
  })

  it('know SOAP 1.2 only', async () => {
    const old = envelope('cte', '<a/>').replaceAll(
      'http://www.w3.org/2003/05/soap-envelope',
      'http://schemas.xmlsoap.org/soap/envelope/',
    )
    expect((await bench.client.post(pathOf('PR'), { 'Content-Type': 'text/xml' }, old)).status).toBe(415)
    expect((await bench.client.post(pathOf('PR'), headers('cte'), old)).body).toContain(
      'Possible SOAP version mismatch',
    )
    const wrong = { 'Content-Type': `application/soap+xml; action="${headers('nfe')['Content-Type']}"` }
    expect((await bench.client.post(pathOf('PR'), wrong, envelope('cte', '<a/>'))).status).toBe(500)
  })
})

describe('what is registered', () => {
  it('110111 cancels and is told to the others, not to the emitente', async () => {
    const cte = await bench.freight()
    const before = await bench.truth(cte.carrier.cnpj, 'cte')
    expect(await send(cte, cancellation(cte))).toMatchObject({ cStat: '135' })
    for (const party of [cte.tomador, cte.sender]) expect((await bench.truth(party, 'cte')).at(-1)).toBe('110111')
    expect(await bench.truth(cte.carrier.cnpj, 'cte')).toEqual(before)
  })

  it('110110 is told to the others, and repeated up to twenty times', async () => {
    const cte = await bench.freight()
    expect(await send(cte, correction(cte))).toMatchObject({ cStat: '135', xEvento: 'Carta de Correção' })
    expect((await bench.truth(cte.tomador, 'cte')).at(-1)).toBe('110110')
    expect(await send(cte, { ...correction(cte), nSeqEvento: 20 })).toMatchObject({ cStat: '135' })
    expect(await send(cte, { ...correction(cte), nSeqEvento: 21 })).toMatchObject({ cStat: '636' })
  })

  it('610110 and 610111 are told to the emitente; 134 once the CT-e is cancelled', async () => {
    const cte = await bench.freight()
    const registered = await send(cte, complaint(cte))
    expect(registered).toMatchObject({ cStat: '135' })
    expect((await bench.truth(cte.carrier.cnpj, 'cte')).at(-1)).toBe('610110')
    await send(cte, cancellation(cte))
    expect(await send(cte, withdrawal(cte, registered?.nProt ?? ''))).toMatchObject({ cStat: '134' })
    expect((await bench.truth(cte.carrier.cnpj, 'cte')).at(-1)).toBe('610111')
  })
})

describe('the message', () => {
  it.each([
    ['215', 'another order', (xml: string) => xml.replace(/(<cOrgao>41<\/cOrgao>)(<tpAmb>2<\/tpAmb>)/, '$2$1')],
    [
      '215',
      'an envEvento',
      (xml: string) => `<envEvento xmlns="http://www.portalfiscal.inf.br/cte">${xml}</envEvento>`,
    ],
    ['215', 'another namespace', (xml: string) => xml.replaceAll('inf.br/cte"', 'inf.br/nfe"')],
    [
      '598',
      'a namespace that is not used',
      (xml: string) => xml.replace('<infEvento ', '<infEvento xmlns:xsd="urn:x" '),
    ],
    ['599', 'a line break', (xml: string) => xml.replace('<infEvento', '\n<infEvento')],
    ['239', 'layout 3.00', (xml: string) => xml.replace('versao="4.00"', 'versao="3.00"')],
    ['297', 'changed after signing', (xml: string) => xml.replace('ainda', 'nunca').replace('iniciado', 'acabado')],
  ])('%s: %s', async (cStat, _, change) => {
    const cte = await bench.freight()
    const { results } = await sendXml(change(await signed(cte, cancellation(cte))), pathOf('PR'))
    expect(results[0]).toMatchObject({ cStat, nProt: '', dhRegEvento: '' })
  })

  it('214 and 243', async () => {
    expect((await sendXml(' '.repeat(512 * 1024), pathOf('MT'))).cStat).toBe('214')
    expect((await sendXml('<a>', pathOf('MT'))).cStat).toBe('243')
  })
})

describe('the rules of every event', () => {
  it.each([
    ['252', { tpAmb: '1' }],
    ['677', { cOrgao: '42' }],
    ['627', { author: '98765432000100' }],
    ['628', { Id: 'ID11011141260877888999000181570010000098761135724684001' }],
    ['629', { tpEvento: 110113 }],
    ['630', { versaoEvento: '4.01' }],
    ['630', { detail: '<evCancCTe><descEvento>cancelamento</descEvento></evCancCTe>' }],
    ['630', { detail: '<evOutroCTe><descEvento>Cancelamento</descEvento></evOutroCTe>' }],
    ['632', { author: '44555666000181' }],
    ['636', { nSeqEvento: 2 }],
    ['634', { dhEvento: '2026-01-01T00:00:00-03:00' }],
  ])('%s: %o', async (cStat, change: Partial<CteEvent>) => {
    const cte = await bench.freight()
    const signer = await bench.signer(change.author ?? cte.carrier.cnpj)
    const base = change.author === '98765432000100' ? await bench.signer('98765432000198') : signer
    expect(await send(cte, { ...cancellation(cte), ...change }, base)).toMatchObject({ cStat, nProt: '' })
  })

  it('213: a signature of another company', async () => {
    const cte = await bench.freight()
    expect(await send(cte, cancellation(cte), await bench.signer('44555666000181'))).toMatchObject({ cStat: '213' })
  })

  it('236 says why', async () => {
    const cte = await bench.freight()
    const chave = cte.chave.slice(0, 43) + String((Number(cte.chave[43]) + 1) % 10)
    expect(await send(cte, { ...cancellation(cte), chave })).toMatchObject({
      cStat: '236',
      xMotivo: 'Rejeicao: Chave de Acesso invalida [Motivo: Digito verificador invalido]',
    })
    const nfe = withDigit(`${cte.chave.slice(0, 20)}55${cte.chave.slice(22, 43)}`)
    expect(await send(cte, { ...cancellation(cte), chave: nfe })).toMatchObject({ cStat: '236' })
  })

  it('670, 595, 217, 216 and 600: chaves that are not this one', async () => {
    const cte = await bench.freight()
    const { chave } = cte
    const changed = [
      ['670', `${chave.slice(0, 22)}890${chave.slice(25, 43)}`],
      ['217', `${chave.slice(0, 25)}999999999${chave.slice(34, 43)}`],
      ['216', `${chave.slice(0, 35)}${String((Number(chave.slice(35, 43)) + 1) % 100_000_000).padStart(8, '0')}`],
      ['600', `${chave.slice(0, 4)}${chave.slice(4, 6) === '01' ? '02' : '01'}${chave.slice(6, 43)}`],
    ] as const
    for (const [cStat, body] of changed) {
      expect(await send(cte, { ...cancellation(cte), chave: withDigit(body) })).toMatchObject({ cStat })
    }
    const gtv = withDigit(`${chave.slice(0, 20)}64${chave.slice(22, 43)}`)
    expect(await send(cte, { ...correction(cte), chave: gtv })).toMatchObject({ cStat: '595' })
  })

  it('637 and 635: the date', async () => {
    const cte = await bench.freight()
    const dhEvento = dateTimeWithOffset(bench.now() + 6 * 60_000)
    expect(await send(cte, { ...cancellation(cte), dhEvento })).toMatchObject({ cStat: '635' })
    const xml = Buffer.from(cte.bytes).toString('utf8')
    const chave = withDigit(`${cte.chave.slice(0, 25)}900000001${cte.chave.slice(34, 43)}`)
    const issued = dateTimeWithOffset(bench.now() - 3_600_000)
    await bench.receive(xml.replaceAll(cte.chave, chave).replace(/<dhEmi>[^<]*/, `<dhEmi>${issued}`))
    const early = dateTimeWithOffset(bench.now() - 1_800_000)
    expect(await send(cte, { ...cancellation(cte), chave, dhEvento: early })).toMatchObject({ cStat: '637' })
  })

  it('631: a duplicate names the registration', async () => {
    const cte = await bench.freight()
    const first = await send(cte, correction(cte))
    expect(await send(cte, correction(cte))).toMatchObject({
      cStat: '631',
      xMotivo: `Rejeicao: Duplicidade de evento [nProt:${first?.nProt}][dhRegEvento:${first?.dhRegEvento}]`,
    })
  })

  it('678: the twenty-first equal rejection', async () => {
    const cte = await bench.freight()
    const order = { ...cancellation(cte), tpAmb: '1' }
    for (let times = 1; times <= 20; times++) expect(await send(cte, order)).toMatchObject({ cStat: '252' })
    expect(await send(cte, order)).toMatchObject({ cStat: '678' })
    await bench.advance(3_600_001)
  })
})

describe('the rules of a Cancelamento', () => {
  it('222: another protocol', async () => {
    const cte = await bench.freight()
    expect(await send(cte, cancellation(cte, '141260000000000'))).toMatchObject({ cStat: '222' })
  })

  it('218: cancelled already', async () => {
    const cte = await bench.freight()
    await bench.receive(happened(cte, 110111))
    expect(await send(cte, { ...correction(cte) })).toMatchObject({
      cStat: '218',
      xMotivo: expect.stringContaining('[nProt:141260000000001][dhCanc:2026-08-10T18:00:00-03:00]'),
    })
    expect(await send(cte, complaint(cte))).toMatchObject({ cStat: '218' })
  })

  it.each([
    ['523', 110110],
    ['528', 310610],
    ['862', 110180],
    ['219', 510620],
    ['576', 240140],
    ['660', 240130],
  ])('%s: after %i', async (cStat, tpEvento) => {
    const cte = await bench.freight()
    await bench.receive(happened(cte, tpEvento))
    expect(await send(cte, cancellation(cte))).toMatchObject({ cStat })
  })

  it('is possible again when the obstacle was undone', async () => {
    const cte = await bench.freight()
    await bench.receive(happened(cte, 310610))
    await bench.receive(happened(cte, 310611))
    expect(await send(cte, cancellation(cte))).toMatchObject({ cStat: '135' })
  })

  it('574: of a CT-e that replaces another', async () => {
    const cte = await bench.freight()
    const chave = withDigit(`${cte.chave.slice(0, 25)}900000002${cte.chave.slice(34, 43)}`)
    const xml = Buffer.from(cte.bytes).toString('utf8').replaceAll(cte.chave, chave)
    await bench.receive(xml.replace('<tpCTe>0<', '<tpCTe>3<'))
    expect(await send(cte, { ...cancellation(cte), chave })).toMatchObject({ cStat: '574' })
  })

  it('220: after 168 hours, unless the Fisco lets it', async () => {
    const cte = await bench.freight()
    await bench.advance(7 * dayMs + 60_000)
    expect(await send(cte, cancellation(cte))).toMatchObject({ cStat: '220' })
    await bench.receive(happened(cte, 240170))
    expect(await send(cte, cancellation(cte))).toMatchObject({ cStat: '135' })
  })
})

describe('the rules of a Carta de Correção', () => {
  const one = (grupo: string, campo: string, item = '') =>
    cteCorrectionDetail('X')
      .detail.replace('>compl<', `>${grupo}<`)
      .replace('>xObs<', `>${campo}<`)
      .replace('</valorAlterado>', `</valorAlterado>${item}`)

  it.each([
    ['681', one('ide', 'dhEmi')],
    ['681', one('ICMS00', 'vICMS')],
    ['522', one('compl', 'xObs', '<nroItemAlterado>100</nroItemAlterado>')],
    ['525', one('compl/x', 'xObs')],
    ['630', one('compl', 'xObs').replace('I - as', 'I  - as')],
    ['135', one('rem', 'IE', '<nroItemAlterado>02</nroItemAlterado>')],
  ])('%s: %s', async (cStat, detail) => {
    const cte = await bench.freight()
    expect(await send(cte, correction(cte, detail))).toMatchObject({ cStat })
  })

  it('664: of a CT-e that was substituted', async () => {
    const cte = await bench.freight()
    await bench.receive(happened(cte, 240140))
    expect(await send(cte, correction(cte))).toMatchObject({ cStat: '664' })
    expect(await send(cte, complaint(cte))).toMatchObject({ cStat: '664' })
  })
})

describe('the rules of a Desacordo', () => {
  it('755: only the tomador', async () => {
    const cte = await bench.freight({ toma: '0' })
    const order = complaint(cte)
    for (const author of [cte.carrier.cnpj, '44555666000181']) {
      expect(await send(cte, { ...order, author })).toMatchObject({ cStat: '755' })
    }
    expect(await send(cte, order)).toMatchObject({ cStat: '135' })
  })

  it('866: another protocol, or one that was withdrawn', async () => {
    const cte = await bench.freight()
    expect(await send(cte, withdrawal(cte, '141260000000000'))).toMatchObject({ cStat: '866' })
    const { nProt } = (await send(cte, complaint(cte))) ?? { nProt: '' }
    expect(await send(cte, withdrawal(cte, nProt))).toMatchObject({ cStat: '135' })
    expect(await send(cte, { ...withdrawal(cte, nProt), nSeqEvento: 2 })).toMatchObject({ cStat: '866' })
  })

  it('787: after 45 days', async () => {
    const cte = await bench.freight()
    const other = await bench.freight()
    await bench.advance(45 * dayMs - 60_000)
    expect(await send(other, complaint(other))).toMatchObject({ cStat: '135' })
    await bench.advance(120_000)
    expect(await send(cte, complaint(cte))).toMatchObject({ cStat: '787' })
  })
})

function withDigit(body: string): string {
  return body + chaveCheckDigit(body)
}

/** An event of a CT-e that was registered elsewhere. */
function happened(cte: GeneratedCte, tpEvento: number): string {
  const common = `<cOrgao>${cte.chave.slice(0, 2)}</cOrgao><tpAmb>2</tpAmb>`
  const event = `${common}<CNPJ>${cte.carrier.cnpj}</CNPJ><chCTe>${cte.chave}</chCTe><dhEvento>2026-08-10T18:00:00-03:00</dhEvento><tpEvento>${tpEvento}</tpEvento><nSeqEvento>1</nSeqEvento>`
  const answer = `<cStat>135</cStat><chCTe>${cte.chave}</chCTe><dhRegEvento>2026-08-10T18:00:00-03:00</dhRegEvento><nProt>141260000000001</nProt>`
  return `<procEventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><eventoCTe versao="4.00"><infEvento>${event}</infEvento></eventoCTe><retEventoCTe versao="4.00"><infEvento>${answer}</infEvento></retEventoCTe></procEventoCTe>`
}

it('what the tomador receives is the event as it was sent, with the response', async () => {
  const cte = await bench.freight()
  const event = await signed(cte, correction(cte))
  await sendXml(event, pathOf('PR'))
  const { documents } = (await bench.test.control('GET', `truth?cnpj=${cte.tomador}&service=cte&expired=true`)) as {
    documents: unknown[]
  }
  const client = await bench.test.client(cte.tomador)
  const page = await client.ask('cte', { cnpj: cte.tomador, NSU: documents.length })
  expect(page.documents[0]?.schema).toBe('procEventoCTe_v4.00.xsd')
  const xml = page.documents[0]?.xml ?? ''
  expect(xml).toContain(event)
  const packageFolder = 'cte/PL_CTe_400_NT2026.002_RTC_1.00'
  if (hasSchemas) expect(schema(packageFolder, 'procEventoCTe_v4.00.xsd')(xml)).toEqual([])
})

it.runIf(hasSchemas)('every answer obeys the official schema', () => {
  const validate = schema('cte/PL_CTe_400_NT2026.002_RTC_1.00', 'retEventoCTe_v4.00.xsd')
  expect(answers.length).toBeGreaterThan(100)
  expect(answers.flatMap((one) => validate(one.message))).toEqual([])
})
