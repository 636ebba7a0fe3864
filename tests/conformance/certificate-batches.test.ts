import { cnpjCheckDigits, formatCnpj } from '@vigia/dfe/cnpj'
import { readCertificate } from '@vigia/sefaz/certificate'
import { start } from '@vigia/server/start'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { grantUnlimited, type Product, startProduct } from '../support/product.ts'

let product: Product
let owner: pg.Client
let client: Client
let email: string
let worker: AsyncDisposable | undefined

beforeAll(async () => {
  product = await startProduct({ roles: ['api'] })
  owner = new pg.Client({ connectionString: product.databaseUrl })
  await owner.connect()
}, 120_000)
afterAll(async () => {
  await owner?.end()
  await product?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  ;({ client, email } = await newMember())
  await grantUnlimited(product, email)
})
afterEach(async () => {
  await worker?.[Symbol.asyncDispose]()
  worker = undefined
})

let members = 0
async function newMember(tipoPlano = 2) {
  const email = `lote${++members}@exemplo.com.br`
  return { email, client: await newClient(product, { nome: 'Ana Souza', email, senha: 'segredo1', tipoPlano }) }
}

const startWorker = async () => {
  worker = await start(product.config, { roles: ['worker'] })
}

let numbers = 0
function newCnpj(): string {
  const first12 = `5${String(++numbers).padStart(7, '0')}0001`
  return first12 + cnpjCheckDigits(first12)
}

const day = 86_400_000
interface Holder {
  cnpj?: string
  cpf?: string
  expires?: number
}
async function fileOf(holder: Holder, senha: string, nome = 'certificado.pfx') {
  const pfx = await product.simulator.issueCertificate({ ...holder, nome: 'EMPRESA LTDA', senha, sharedKey: true })
  return { nome, conteudo: Buffer.from(pfx).toString('base64') }
}

interface Batch {
  recebidos: number
  trocados: number
  cadastrados: number
  semMudanca: number
  comProblema: number
  encerrado: boolean
  arquivos: { nome: string; situacao: string; mensagem: string; cnpj: string | null; idEmpresa: string | null }[]
}
const path = '/v1/api/Empresas/certificados-em-lote'

async function send(senhas: string, arquivos: object[], { ultimos = true, of = client } = {}): Promise<string> {
  const begun = await of.call<{ idLote: string }>('POST', path, { senhas, totalDeArquivos: arquivos.length })
  expect(begun.body.message).toBe('Operação realizada com sucesso')
  const { idLote } = begun.body.data
  const added = await of.call('POST', `${path}/${idLote}/arquivos`, { arquivos, ultimos })
  expect(added.body.message).toBe('Operação realizada com sucesso')
  return idLote
}

const read = async (idLote: string) => (await client.call<Batch>('GET', `${path}/${idLote}/arquivos`)).body.data
const ended = async (idLote: string) => {
  await expect.poll(async () => (await read(idLote)).encerrado, { timeout: 20_000 }).toBe(true)
  return read(idLote)
}
const outcomes = ({ arquivos }: Batch) => arquivos.map(({ nome, situacao }) => [nome, situacao])
const companies = async () =>
  (
    await client.call<{ id: string; cnpj: string; validadeCertificadoA1: string }[]>(
      'GET',
      '/v1/api/Empresas/obter-empresas',
    )
  ).body.data
const secrets = async () => {
  const { rows } = await owner.query<{ n: number }>(
    `select (select count(*) from certificate_file where content is not null)::int
          + (select count(*) from certificate_batch where passwords is not null)::int as n`,
  )
  return rows[0]!.n
}
/** Leases the job of the files with this name as another process does that was killed. */
const leaseUntil = (until: string, name: string) =>
  owner.query(
    `update job set run_at = 'infinity', attempts = 1, lease = gen_random_uuid(), lease_until = ${until}
      where kind = 'certificate' and key in (select id::text from certificate_file where name = $1)`,
    [name],
  )
const auditOf = async () =>
  (await client.call<{ items: { acao: string; descricao: string }[] }>('GET', '/v1/api/Auditoria')).body.data.items.map(
    ({ descricao }) => descricao,
  )

describe('a batch of certificates', () => {
  test('renews what is here, registers what is not, and says of each other file what is wrong with it', async () => {
    await startWorker()
    const [known, fresh, same] = [newCnpj(), newCnpj(), newCnpj()]
    const soon = Date.now() + 20 * day
    const first = await ended(
      await send('velha', [
        await fileOf({ cnpj: known, expires: soon }, 'velha', 'a.pfx'),
        await fileOf({ cnpj: same }, 'velha', 'b.pfx'),
      ]),
    )
    expect(first).toMatchObject({ cadastrados: 2, comProblema: 0 })
    const again = await fileOf({ cnpj: same }, 'velha')

    const list = [
      'CNPJ;Senha',
      `${formatCnpj(known)};um`,
      `${fresh};do;is`,
      `${same};velha`,
      `${newCnpj()};ninguém`,
    ].join('\n')
    const idLote = await send(list, [
      // Neither name tells whose it is, and the second password holds the separator.
      await fileOf({ cnpj: known }, 'um', 'padaria.pfx'),
      await fileOf({ cnpj: fresh }, 'do;is', 'mercado.p12'),
      await fileOf({ cnpj: newCnpj() }, 'outra', 'senha-errada.pfx'),
      await fileOf({ cnpj: known, expires: Date.now() - day }, 'um', 'vencido.pfx'),
      await fileOf({ cpf: '52998224725' }, 'um', 'pessoa.pfx'),
      { nome: 'rasgado.pfx', conteudo: 'AAAA' },
      await fileOf({ cnpj: known, expires: soon - day }, 'um', 'antigo.pfx'),
      { ...again, nome: 'mesmo.pfx' },
    ])
    const batch = await ended(idLote)
    expect(batch.arquivos.map(({ nome, situacao, mensagem }) => [nome, situacao, mensagem.split('.')[0]])).toEqual([
      ['padaria.pfx', 'trocado', expect.stringMatching(/^Certificado trocado: o novo é válido até/)],
      ['mercado.p12', 'cadastrado', expect.stringMatching(/^Empresa cadastrada/)],
      ['senha-errada.pfx', 'problema', 'Nenhuma das 5 senhas da lista abre este certificado'],
      ['vencido.pfx', 'problema', expect.stringMatching(/^Este certificado venceu em/)],
      ['pessoa.pfx', 'problema', expect.stringMatching(/^Este é o certificado de uma pessoa \(e-CPF\)/)],
      ['rasgado.pfx', 'problema', expect.stringMatching(/^Não conseguimos ler o arquivo/)],
      ['antigo.pfx', 'sem-mudanca', expect.stringMatching(/^A empresa já tem um certificado mais novo/)],
      // Issued anew by the simulator: another certificate of the same holder.
      ['mesmo.pfx', 'trocado', expect.stringMatching(/^Certificado trocado/)],
    ])
    expect(batch).toMatchObject({ recebidos: 8, trocados: 2, cadastrados: 1, semMudanca: 1, comProblema: 4 })
    expect((await companies()).map(({ cnpj }) => cnpj).toSorted()).toEqual([known, fresh, same].toSorted())
    const repeated = await ended(await send('velha', [{ ...again, nome: 'mesmo.pfx' }]))
    expect(repeated.arquivos).toMatchObject([{ situacao: 'sem-mudanca', cnpj: same }])
    expect(repeated.arquivos[0]!.mensagem).toMatch(/^Já é o certificado cadastrado/)
    expect(await secrets()).toBe(0)
    const audit = await auditOf()
    expect(audit.filter((text) => text.startsWith('Trocou o certificado da empresa'))).toHaveLength(2)
    expect(audit.filter((text) => text.startsWith('Cadastrou a empresa'))).toHaveLength(3)
    expect(audit).toContain('Começou a enviar um lote de certificados, com 8 arquivos.')
  })

  test('tries first the password of the CNPJ in the name, and only that of a file that has its own', async () => {
    await startWorker()
    const cnpj = newCnpj()
    const list = [...Array.from({ length: 30 }, (_, n) => `${newCnpj()};errada ${n}`), `${cnpj};certa`].join('\n')
    const batch = await ended(
      await send(list, [
        await fileOf({ cnpj }, 'certa', `CERT ${formatCnpj(cnpj).replace('/', '-')}.pfx`),
        { ...(await fileOf({ cnpj: newCnpj() }, 'certa', 'própria.pfx')), senha: 'errada' },
      ]),
    )
    expect(outcomes(batch).map(([, situacao]) => situacao)).toEqual(['cadastrado', 'problema'])
    expect(batch.arquivos[1]!.mensagem).toMatch(/^A senha informada não abre este certificado/)
  })

  test('renews the filial that has the certificate of a matriz which is no company here', async () => {
    await startWorker()
    const matriz = newCnpj()
    const first12 = `${matriz.slice(0, 8)}0002`
    const filial = first12 + cnpjCheckDigits(first12)
    const form = new FormData()
    const { conteudo } = await fileOf({ cnpj: matriz, expires: Date.now() + day }, 'velha')
    form.append('Certificado', new File([Buffer.from(conteudo, 'base64')], 'a.pfx'))
    form.append('Senha', 'velha')
    form.append('Cnpj', filial)
    expect((await client.call('POST', '/v1/api/Empresas', form)).status).toBe(200)
    const batch = await ended(await send('nova', [await fileOf({ cnpj: matriz }, 'nova')]))
    expect(batch.arquivos).toMatchObject([{ situacao: 'trocado', cnpj: filial }])
    expect(await companies()).toHaveLength(1)
  })

  test('that is bigger than the plan registers as many as there is room for', async () => {
    await startWorker()
    ;({ client } = await newMember(1))
    const batch = await ended(
      await send('uma', [
        await fileOf({ cnpj: newCnpj() }, 'uma', 'a.pfx'),
        await fileOf({ cnpj: newCnpj() }, 'uma', 'b.pfx'),
      ]),
    )
    expect(batch).toMatchObject({ cadastrados: 1, comProblema: 1 })
    expect(batch.arquivos.find(({ situacao }) => situacao === 'problema')!.mensagem).toMatch(/^O plano Básico permite/)
  })

  test('is taken up by another process when one was killed, and does nothing twice', async () => {
    const cnpj = newCnpj()
    const file = await fileOf({ cnpj }, 'uma')
    const idLote = await send('uma', [file, { ...file, nome: 'cópia.pfx' }])
    // The response to the last call was lost, and it is repeated.
    const repeated = await client.call('POST', `${path}/${idLote}/arquivos`, { arquivos: [file], ultimos: true })
    expect(repeated.body).toMatchObject({ success: true, data: { recebidos: 2 } })
    expect(outcomes(await read(idLote))).toEqual([
      ['certificado.pfx', 'na-fila'],
      ['cópia.pfx', 'na-fila'],
    ])
    // As a process leaves it that ended after its claim; one that ends in the transaction has done nothing.
    await leaseUntil("now() + interval '5 minutes'", 'certificado.pfx')
    await startWorker()
    await expect.poll(async () => (await read(idLote)).cadastrados, { timeout: 20_000 }).toBe(1)
    expect(outcomes(await read(idLote))[0]).toEqual(['certificado.pfx', 'na-fila'])
    await leaseUntil('now()', 'certificado.pfx')
    expect(outcomes(await ended(idLote))).toEqual([
      ['certificado.pfx', 'sem-mudanca'],
      ['cópia.pfx', 'cadastrado'],
    ])
    expect(await companies()).toHaveLength(1)
    const late = await client.call('POST', `${path}/${idLote}/arquivos`, { arquivos: [{ ...file, nome: 'outra.pfx' }] })
    expect(late.body.message).toMatch(/^Este lote já foi encerrado/)
  })

  test('keeps nothing that opens a certificate in plain, nor longer than a day, nor for others', async () => {
    const cnpj = newCnpj()
    const file = await fileOf({ cnpj }, 'segredo-do-arquivo')
    const idLote = await send(`${cnpj};segredo-do-arquivo`, [file], { ultimos: false })
    const { rows } = await owner.query<{ content: Buffer; passwords: Buffer }>(
      'select content, passwords from certificate_file f join certificate_batch b on b.workspace_id = f.workspace_id and b.id = f.batch_id where content is not null',
    )
    for (const bytes of rows.flatMap(({ content, passwords }) => [content, passwords])) {
      expect(bytes.includes('segredo-do-arquivo')).toBe(false)
      expect(bytes.includes(file.conteudo.slice(40, 80))).toBe(false)
      expect(bytes.includes(Buffer.from(file.conteudo, 'base64').subarray(40, 60))).toBe(false)
    }
    const { client: stranger } = await newMember()
    expect((await stranger.call('GET', `${path}/${idLote}/arquivos`)).status).toBe(404)
    expect((await stranger.call('GET', path)).body.data).toEqual([])
    expect((await stranger.call('POST', `${path}/${idLote}/arquivos`, { arquivos: [file] })).status).toBe(404)

    // The file stays undecided, and no more files come.
    await leaseUntil("now() + interval '5 minutes'", file.nome)
    await owner.query("update certificate_batch set received_at = now() - interval '25 hours' where ended_at is null")
    await owner.query("update job set run_at = now() where kind = 'tidy-batches'")
    await startWorker()
    const batch = await ended(idLote)
    expect(batch.arquivos).toMatchObject([
      { situacao: 'problema', mensagem: expect.stringMatching(/^Este arquivo esperou mais de um dia/) },
    ])
    expect(await secrets()).toBe(0)
  })
})

test('workspaces take turns: who comes later does not wait for all files of who came first', async () => {
  // Two threads are there already: to start one takes longer than to see that these files are none.
  await Promise.allSettled([1, 2].map(() => readCertificate(Buffer.from('nada'), '')))
  const many = Array.from({ length: 20 }, (_, n) => ({ nome: `${n}.pfx`, conteudo: 'AAAA' }))
  const large = await send('uma', many)
  const other = await newMember()
  await send('uma', [{ nome: 'única.pfx', conteudo: 'AAAA' }], { of: other.client })
  await startWorker()
  await ended(large)
  const { rows } = await owner.query<{ name: string }>(
    `select name from certificate_file
      where batch_id in (select id from certificate_batch order by id desc limit 2) order by xmin::text::bigint desc`,
  )
  // Taken last, it would be followed by at most the seven files that are decided at the same time.
  expect(rows.findIndex(({ name }) => name === 'única.pfx')).toBeGreaterThan(7)
})

test('a deletion that is asked for takes what waits with it', async () => {
  await send('uma', [await fileOf({ cnpj: newCnpj() }, 'uma')])
  expect(await secrets()).toBe(2)
  expect((await client.call('POST', '/v1/api/Usuarios/excluir', { senhaAtual: 'segredo1' })).status).toBe(200)
  expect(await secrets()).toBe(0)
})

test('a list without a password is refused, and files that have none', async () => {
  const begin = (senhas: string) => client.call<{ idLote: string }>('POST', path, { senhas, totalDeArquivos: 1 })
  expect((await begin(`CNPJ;Senha\n${newCnpj()};\n`)).body.message).toMatch(/^Não encontramos nenhuma senha na lista/)
  const { idLote } = (await begin('')).body.data
  const { body } = await client.call('POST', `${path}/${idLote}/arquivos`, {
    arquivos: [{ nome: 'a.pfx', conteudo: 'AAAA' }],
  })
  expect(body.message).toMatch(/^Não encontramos nenhuma senha na lista/)
})
