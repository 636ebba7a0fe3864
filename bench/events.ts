import { createPrivateKey, sign } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { readCertificate } from '@vigia/sefaz/certificate'
import { signCteEvent, signManifestation } from '@vigia/sefaz/events'
import { start } from '@vigia/simulator/start'
import { compare, report } from './measure.ts'

// An event from what a person wants to the bytes that leave, against the RSA signature in it alone: same key, same size.
const cnpj = '12ABC34501DE35'
const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
try {
  await using simulator = await start({ port: 0, directory, seed: 1 })
  const pfx = await simulator.issueCertificate({ cnpj, nome: 'EMPRESA LTDA', senha: 'segredo' })
  const certificate = await readCertificate(pfx, 'segredo')
  const key = createPrivateKey(certificate.key)

  let number = 0
  const head = (model: string) => {
    const body = `352611${cnpj}${model}001${String(++number).padStart(9, '0')}110000000`
    const chave = `${body.slice(0, 43)}${chaveCheckDigit(body.slice(0, 43))}`
    return { tpAmb: 2 as const, cnpj, chave, nSeqEvento: 1, at: new Date() }
  }
  const nfe = () => signManifestation({ ...head('55'), tpEvento: 210210 }, certificate).xml
  const cte = () =>
    signCteEvent({ ...head('57'), tpEvento: 610110, xObs: 'Carga entregue com avaria, conforme vistoria' }, certificate)
      .xml
  const signedInfo = Buffer.from(/<SignedInfo>.*<\/SignedInfo>/s.exec(nfe())![0])
  const eventsAtOnce = 200
  const turn = (work: () => unknown) => () => {
    for (let event = 0; event < eventsAtOnce; event++) work()
    return eventsAtOnce
  }
  const result = await compare(9, [
    { name: 'rsaSha1Alone', run: turn(() => sign('RSA-SHA1', signedInfo, key)) },
    { name: 'nfe', run: turn(nfe) },
    { name: 'cte', run: turn(cte) },
  ])
  report('events', { unit: 'events', keyBits: key.asymmetricKeyDetails?.modulusLength, goal: 0.7, ...result })
} finally {
  await rm(directory, { recursive: true, force: true })
}
