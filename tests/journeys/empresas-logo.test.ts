import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { focusedName } from './captured.ts'
import { shown, useSite } from './site.ts'

const site = useSite()

// A large photograph, as people have it: the page makes it as small as a form needs.
const photograph = (page: Page) =>
  page.evaluate(() => {
    const canvas = document.createElement('canvas')
    canvas.width = 2400
    canvas.height = 800
    const context = canvas.getContext('2d')!
    context.fillStyle = 'red'
    context.fillRect(0, 0, 2400, 400)
    return canvas.toDataURL('image/jpeg').split(',')[1]!
  })

async function choose(page: Page, name: string, mimeType: string, buffer: Buffer) {
  const asked = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: /^(Escolher|Trocar) imagem$/ }).click()
  await (await asked).setFiles({ name, mimeType, buffer })
}

test('a company gets a logo, another one, and none', async () => {
  const account = await site.createAccount('Lúcia')
  const client = await newClient(site.product, account)
  const id = await client.register('44555666000181', 'OFICINA DO BAIRRO LTDA')
  const page = await site.resume(account, `/empresas/editar/${id}`)
  const section = page.getByRole('region', { name: 'Logotipo' })
  await shown(section.getByText(/Sai ao lado do nome no DANFE e no DACTE que esta empresa emite/))

  await choose(page, 'loja.jpg', 'image/jpeg', Buffer.from(await photograph(page), 'base64'))
  await shown(page.getByText('Logotipo guardado. Ele sai no DANFE e no DACTE que a empresa emite.'))
  const picture = section.getByRole('img', { name: 'Logotipo de OFICINA DO BAIRRO LTDA' })
  await shown(picture)
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight].join('x')))
    .toBe('600x200')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await picture.evaluate((image) => getComputedStyle(image.parentElement!).backgroundColor)).toBe(
    'rgb(255, 255, 255)',
  )

  await choose(page, 'nota.txt', 'text/plain', Buffer.from('não é uma imagem'))
  await shown(section.getByText(/^Este arquivo não é uma imagem que o navegador saiba abrir/))
  await shown(picture)

  await section.getByRole('button', { name: 'Remover logotipo' }).click()
  await shown(page.getByText('Logotipo removido. Os documentos saem sem ele.'))
  await shown(section.getByRole('button', { name: 'Escolher imagem' }))
  expect(await picture.count()).toBe(0)
  await expect.poll(() => focusedName(page)).toBe('Escolher imagem')
})
