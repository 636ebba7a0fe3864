import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Client, ListRow } from '../support/client.ts'
import { capturedAccount, drawn, rowsOf } from './captured.ts'
import { type Account, shown, textOf, useSite } from './site.ts'

const site = useSite()
let office: { account: Account; client: Client; rows: ListRow[] } | undefined

async function prepare() {
  if (office) return office
  const known = await capturedAccount(site)
  office = { ...known, rows: await known.client.list('TipoDFe=2') }
  return office
}

async function open(search = '', options = {}): Promise<Page> {
  const { account } = await prepare()
  const page = await site.resume(account, `/cte?periodo=todos${search && `&busca=${search}`}`, options)
  await shown(rowsOf(page))
  return page
}

async function answer(page: Page, label: string) {
  await page
    .getByLabel(/^Selecionar CT-e/)
    .first()
    .check()
  await page.getByRole('button', { name: 'Manifestar' }).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
  const dialog = page.getByRole('dialog', { name: `Manifestar - ${label}` })
  await shown(dialog.getByText(/^(Vai para|Nenhum conhecimento pode)/))
  return dialog
}

test('the list of transport documents is that of the specification; a DACTE opens over it', async () => {
  const page = await open()
  await shown(page.getByRole('heading', { name: 'Conhecimento de Transporte Eletrônico', level: 1 }))
  await shown(page.getByRole('heading', { name: 'Todos os CTe' }))
  await shown(page.getByText(/^[\d.]+ conhecimentos ·/))
  await page.getByRole('button', { name: 'Manifestar' }).click()
  await shown(page.getByRole('menu').getByText('Selecione pelo menos um documento para manifestar.'))
  expect(await page.getByRole('menuitem').allTextContents()).toEqual([
    'Cancelamento',
    'Carta Correção',
    'Prestação em Desacordo',
    'Retirar o Desacordo',
  ])
  await page.keyboard.press('Escape')
  await page.getByLabel('Selecionar todos os documentos da página').click()
  await shown(page.getByText(/^\d+ selecionados$/))

  await page
    .getByRole('button', { name: /^Visualizar CT-e/, disabled: false })
    .first()
    .click()
  const dialog = page.getByRole('dialog', { name: /^CT-e \d+ - / })
  await drawn(dialog.locator('canvas').first())
  await expect.poll(() => textOf(dialog)).toContain('DACTE')
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/cte')
})

test('only the carrier cancels and corrects, and the dialog says so before anything is sent', async () => {
  const page = await open()
  const cancel = await answer(page, 'Cancelamento')
  await shown(cancel.getByText(/^Cancela o CT-e na SEFAZ, e isso não pode ser desfeito\./))
  await shown(cancel.getByText('Só a transportadora que emitiu o CT-e pode cancelá-lo ou corrigi-lo.'))
  await shown(cancel.getByText('0/200 caracteres'))
  expect(await cancel.getByRole('button', { name: 'Enviar' }).isDisabled()).toBe(true)
  await cancel.getByRole('button', { name: 'Cancelar' }).click()

  const letter = await answer(page, 'Carta Correção')
  await letter.getByLabel('Justificativa').fill('Observação corrigida')
  await letter.getByRole('button', { name: 'Corrigir um campo' }).click()
  const badName = letter.getByText('Use o nome que está no XML: até 20 letras e números.')
  await letter.getByLabel('Grupo').press('Tab')
  await expect.poll(() => badName.count()).toBe(1)
  await letter.getByRole('button', { name: 'Enviar' }).click()
  await expect.poll(() => badName.count()).toBe(2)
  await letter.getByRole('button', { name: 'Corrigir um campo' }).click()
  await letter.getByLabel('Grupo').nth(1).waitFor()
  await expect.poll(() => badName.count()).toBe(2)
  await letter.getByRole('button', { name: 'Remover a correção 2' }).click()
  await shown(letter.getByText('Use o nome que está no XML: até 20 letras e números.'))
  await shown(letter.getByText('Escreva o novo valor, com até 500 caracteres.'))
  await letter.getByLabel('Grupo').fill('compl')
  await letter.getByLabel('Campo').fill('xObs')
  await letter.getByLabel('Item').fill('100')
  await letter.getByLabel('Novo valor').fill('ENTREGA COM AGENDAMENTO')
  await letter.getByRole('button', { name: 'Enviar' }).click()
  await shown(letter.getByText('De 1 a 99.'))
  await letter.getByLabel('Item').fill('')
  await letter.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText('Erro na operação: Só a transportadora que emitiu o CT-e pode cancelá-lo ou corrigi-lo.'))
  await letter.getByRole('button', { name: 'Remover a correção 1' }).click()
  await shown(letter.getByText(/^Sem campos, a carta leva o texto acima/))
})

test('who pays the freight disputes it, and takes it back', async () => {
  const { rows } = await prepare()
  const paid = rows.find((row) => row.tipoParticipacao === 7 && row.status.codigoEvento === 100)!
  const page = await open(paid.chave)
  const dispute = await answer(page, 'Prestação em Desacordo')
  await shown(dispute.getByText(/^Diz à SEFAZ e à transportadora/))
  await shown(dispute.getByText(/^O prazo vai até .* \((faltam \d+ dias|termina .*)\)\.$/))
  await dispute.getByRole('button', { name: 'Valor do frete diferente do combinado' }).click()
  await dispute.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText('1 evento registrado.'), 20_000)
  await dispute.waitFor({ state: 'detached' })
  const again = await answer(page, 'Prestação em Desacordo')
  await shown(again.getByText('O desacordo deste CT-e já está registrado.'))
  await again.getByRole('button', { name: 'Cancelar' }).click()
  const back = await answer(page, 'Retirar o Desacordo')
  // The server's suggestion comes a moment later.
  await expect
    .poll(() => back.getByLabel('Justificativa').inputValue())
    .toBe('A divergência foi resolvida com a transportadora.')
  await back.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText('1 evento registrado.').nth(1).or(page.getByText('1 evento registrado.')), 20_000)
  await back.waitFor({ state: 'detached' })
})
