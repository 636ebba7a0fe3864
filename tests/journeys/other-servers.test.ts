import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { alfa, failure, fixTime, follow, month, onPath, respond, success, toasted } from './page.ts'
import { shown, useSite } from './site.ts'

// The server here knows the calls of section 7 with the fields of section 3; a call of ours is answered 404.
const { visitor, go } = useSite({ roles: ['api'] })

const company = {
  razaoSocial: 'ALFA LTDA',
  cnpj: '11222333000181',
  email: 'fiscal@alfa.example',
  sincronizacaoAutomatica: true,
  empresaUf: { codUf: 41, uf: 'PR' },
  dataValidadeCertificadoDigital: '06/05/2027',
  configuracaoNFe: {
    emitenteNFe: true,
    destinatarioNFe: true,
    transportadorNFe: false,
    terceiroNFe: true,
    manifestarCienciaAutomaticamente: false,
    ultimoNsu: '000000000000042',
    mensagemSincronizacao: 'Mensagem das notas',
  },
  configuracaoCTe: {
    emitenteCTe: true,
    remetenteCTe: true,
    destinatarioCTe: true,
    expedidorCTe: false,
    recebedorCTe: false,
    tomadorCTe: true,
    terceiroCTe: true,
    ultimoNsu: '000000000000043',
    mensagemSincronizacao: 'Mensagem dos conhecimentos',
  },
}

const documents = [1, 2].map((number) => ({
  idDfe: `nota-${number}`,
  numero: 100 + number,
  emitente: `EMITENTE ${number}`,
  chave: `3526031122233300018155001${'0'.repeat(19)}`,
  valor: 1234.5,
  dataEmissao: '2026-03-05T10:00:00',
  tipoParticipacao: 1,
  status: { codigoEvento: 210210, descricaoEvento: 'Ciência da Operação' },
  notaCompleta: true,
}))

test('the eight screens work with the calls and fields of the specification alone', async () => {
  const page = await visitor()
  await fixTime(page, new Date('2026-03-10T12:00:00-03:00'))
  await respond(page, /^\/v1\/api\//, { status: 404, json: failure('Não existe', [], 404) })
  for (const [path, data] of [
    ['/v1/api/Auth', { token: 'um-token', wsId: 'um-espaco' }],
    ['/v1/api/Dashboard', month],
    ['/v1/api/DocumentosFiscais', { items: documents, totalDePaginas: 3 }],
    ['/v1/api/Empresas/obter-empresas', [alfa]],
    ['/v1/api/Empresas/obter-empresa', company],
  ] as const)
    await respond(page, path, { json: success(data) })
  const answers = await respond(page, '/v1/api/DocumentosFiscais/manifestar-nfe', {
    json: success(null, 'Tudo certo.'),
  })

  await go(page, '/login')
  await page.getByLabel('Email').fill('ivo@empresa.example')
  await page.getByLabel('Senha', { exact: true }).fill('segredo-123')
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await onPath(page, '/dashboard')
  await shown(page.getByText('PADARIA AURORA LTDA'))
  await absent(page, 'Documentos por Dia', 'Precisa de você')

  await follow(page, '/notas-fiscais')
  await shown(page.getByText('Página 1 de 3', { exact: true }))
  await page.getByRole('columnheader').getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Manifestar', exact: true }).first().click()
  await page.getByRole('menuitem', { name: 'Confirmação', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Manifestar - Confirmação', exact: true })
  await dialog.getByRole('textbox').first().fill('Como combinado.')
  await dialog.getByRole('button', { name: 'Enviar', exact: true }).click()
  await toasted(page, 'Tudo certo.')
  const sent = { justificativa: 'Como combinado.', idsDFe: ['nota-1', 'nota-2'], tipoManifestacao: 2 }
  expect(answers.map((request) => request.postDataJSON())).toEqual([sent])

  await follow(page, '/cte')
  await shown(page.getByRole('row').filter({ hasText: 'EMITENTE 2' }))

  await follow(page, '/empresas')
  await shown(page.getByRole('row').filter({ hasText: 'ALFA' }).getByText('06/05/2027'))
  await shown(page.getByText('Monitoramento ativo'))

  await follow(page, '/empresas/nova')
  await shown(page.locator('input[type=file]'))

  await follow(page, '/empresas/editar/um')
  await shown(page.getByText('Mensagem dos conhecimentos', { exact: true }))
  await absent(page, 'Captura', 'Logotipo', 'Arquivar a empresa')
  const puts = await respond(page, '/v1/api/Empresas', { json: success(null) })
  await page.getByLabel(/^Razão Social/).fill('ALFA COMÉRCIO LTDA')
  await page.getByRole('button', { name: /^Salvar/ }).click()
  await toasted(page, 'Empresa atualizada com sucesso!')
  expect(puts[0]!.postData()).toContain('name="RazaoSocial"\r\n\r\nALFA COMÉRCIO LTDA\r\n')

  await follow(page, '/help')
  await shown(page.getByRole('heading', { name: 'Ajuda' }))
})

/** The parts with these headings are not there, and nothing has failed. */
async function absent(page: Page, ...headings: string[]): Promise<void> {
  for (const name of headings) expect(await page.getByRole('heading', { name, exact: true }).count(), name).toBe(0)
  expect(await page.getByText(/algo deu errado/i).count()).toBe(0)
}
