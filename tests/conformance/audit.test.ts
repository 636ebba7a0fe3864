import type { AuditRow } from '@vigia/contract/workspace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { startTwoWorkspaces, type TwoWorkspaces } from '../support/two-workspaces.ts'

let two: TwoWorkspaces
let mine: Client

beforeAll(async () => {
  two = await startTwoWorkspaces({ working: true })
  mine = two.mine.client
}, 120_000)
afterAll(() => two?.[Symbol.asyncDispose]())

interface AuditPage {
  items: AuditRow[]
  totalDePaginas: number
}

const audit = async (query = '', client = mine) =>
  (await client.call<AuditPage>('GET', `/v1/api/Auditoria?${query}`)).body.data
const newest = async (n: number, query = '') =>
  (await audit(query)).items
    .slice(0, n)
    .map(({ acao, descricao }) => [acao, descricao.replace(/\d\d\/\d\d\/\d{4}/g, 'dd/mm/aaaa')])

function edit(fields: Record<string, string | File>) {
  const form = new FormData()
  for (const [name, value] of Object.entries({
    IdEmpresa: two.mine.companyId,
    RazaoSocial: 'EMPRESA ALFA LTDA',
    ...fields,
  }))
    form.append(name, value)
  return mine.call('PUT', '/v1/api/Empresas', form)
}

async function pfx(cnpj = two.mine.company.cnpj): Promise<File> {
  const bytes = await two.product.simulator.issueCertificate({
    cnpj,
    nome: 'EMPRESA ALFA LTDA',
    senha: 'segredo',
    sharedKey: true,
  })
  return new File([new Uint8Array(bytes)], 'empresa.pfx')
}

const alfa = 'EMPRESA ALFA LTDA (12.ABC.345/01DE-35)'

test('a new company and its certificate', async () => {
  expect(await newest(2, 'CampoPesquisa=12abc34501de35')).toEqual([
    ['certificado', `Enviou o certificado digital de ${alfa}, válido até dd/mm/aaaa, para a empresa ${alfa}.`],
    ['empresa', `Cadastrou a empresa ${alfa} com o certificado digital de ${alfa}, válido até dd/mm/aaaa.`],
  ])
  const [row] = (await audit('Acao=empresa')).items
  expect(row).toMatchObject({
    usuario: 'Ana Souza',
    endereco: expect.stringMatching(/^(::1|127\.0\.0\.1|::ffff:127\.0\.0\.1)$/),
  })
  expect(Math.abs(Date.parse(row!.quando) - Date.now())).toBeLessThan(120_000)
})

test('a company that is refused leaves nothing', async () => {
  const before = await audit()
  await expect(mine.register(two.mine.company.cnpj)).rejects.toThrow('já está cadastrada')
  expect((await edit({ Email: 'x' })).status).toBe(400)
  const form = { 'CertificadoDigital.Certificado': await pfx('11222333000181'), 'CertificadoDigital.Senha': 'segredo' }
  expect((await edit(form)).status).toBe(400)
  expect(await audit()).toEqual(before)
})

test('what was changed, from what to what', async () => {
  const change = {
    RazaoSocial: 'EMPRESA ALFA S.A.',
    Email: 'fiscal@exemplo.com.br',
    Uf: '33',
    SincronizacaoAutomatica: 'false',
    'ConfiguracoesNfe.Terceiro': 'false',
    'ConfiguracoesCte.Destinatario': 'false',
    'ConfiguracoesCte.Tomador': 'true',
  }
  await edit(change)
  const expected = [
    'empresa',
    `Alterou a empresa ${alfa}: razão social de “EMPRESA ALFA LTDA” para “EMPRESA ALFA S.A.”; e-mail de nenhum para fiscal@exemplo.com.br; UF de SP para RJ; sincronização automática de ligada para desligada; exibição de NF-e como Terceiro de ligada para desligada; exibição de CT-e como Destinatário de ligada para desligada.`,
  ]
  expect(await newest(1)).toEqual([expected])
  await edit(change)
  expect(await newest(1)).toEqual([expected])
  const back = Object.keys(change).filter((field) => field.includes('.') || field === 'SincronizacaoAutomatica')
  await edit({ Uf: '35', Email: '', ...Object.fromEntries(back.map((field) => [field, 'true'])) })
  expect(await newest(1)).toEqual([
    [
      'empresa',
      'Alterou a empresa EMPRESA ALFA S.A. (12.ABC.345/01DE-35): razão social de “EMPRESA ALFA S.A.” para “EMPRESA ALFA LTDA”; e-mail de fiscal@exemplo.com.br para nenhum; UF de RJ para SP; sincronização automática de desligada para ligada; exibição de NF-e como Terceiro de desligada para ligada; exibição de CT-e como Destinatário de desligada para ligada.',
    ],
  ])
})

test('who turned the automatic Ciência on and off', async () => {
  for (const on of ['true', 'true', 'false', 'false'])
    await edit({ 'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': on })
  expect(await newest(2)).toEqual([
    [
      'manifestacao',
      `Desligou a ciência automática da empresa ${alfa}: a partir de agora a Ciência da Operação não é mais registrada sozinha.`,
    ],
    [
      'manifestacao',
      `Ligou a ciência automática da empresa ${alfa}: a partir de agora a Ciência da Operação é registrada sozinha.`,
    ],
  ])
})

test('another certificate', async () => {
  await edit({ 'CertificadoDigital.Certificado': await pfx(), 'CertificadoDigital.Senha': 'segredo' })
  expect(await newest(1)).toEqual([
    [
      'certificado',
      `Trocou o certificado da empresa ${alfa}: agora usa o certificado digital de ${alfa}, válido até dd/mm/aaaa.`,
    ],
  ])
})

test('a query that was asked for', async () => {
  await mine.call('POST', `/v1/api/Empresas/sincronizar?idEmpresa=${two.mine.companyId}`)
  await mine.call('POST', `/v1/api/Empresas/sincronizar?idEmpresa=${two.theirs.companyId}`)
  expect(await newest(2, 'Acao=sincronizacao')).toEqual([
    ['sincronizacao', `Pediu a sincronização da empresa ${alfa}.`],
  ])
})

test('the events that were asked for, and their documents', async () => {
  const rows = (await mine.list('TipoDFe=0&Status=1')).filter((row) => row.status.codigoEvento === 0)
  const manifest = (idsDFe: string[], tipoManifestacao: number) =>
    mine.call('POST', '/v1/api/DocumentosFiscais/manifestar-nfe', {
      justificativa: 'Palavras que ficam no documento',
      idsDFe,
      tipoManifestacao,
    })
  // How many there are depends on the day.
  const [many, last] = [rows.slice(0, -1), rows.at(-1)!]
  expect(many.length).toBeGreaterThan(5)
  const answer = await manifest(
    many.map(({ idDfe }) => idDfe),
    2,
  )
  expect(answer.body.success).toBe(true)
  const numbers = many.slice(0, 5).map(({ numero }) => numero)
  const wish = `Pediu Confirmação da Operação de ${many.length} NF-e (números ${numbers.join(', ')} e mais ${many.length - 5}), com justificativa.`
  expect(await newest(1)).toEqual([['manifestacao', wish]])
  // The same wish again, and one that is refused, add nothing.
  await manifest([many[0]!.idDfe], 2)
  await manifest([many[0]!.idDfe, two.theirs.nfe[0]!], 3)
  expect(await newest(1)).toEqual([['manifestacao', wish]])
  await manifest([last.idDfe], 4)
  expect(await newest(1)).toEqual([
    ['manifestacao', `Pediu Operação não Realizada de 1 NF-e (número ${last.numero}), com justificativa.`],
  ])
  expect(JSON.stringify(await audit())).not.toContain('Palavras')
}, 60_000)
