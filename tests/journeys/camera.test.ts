import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { respond, success } from './page.ts'
import { expectAccessible, phone, shown, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const ofNfe = '35260311222333000181550010000001011123456784'
const ofCte = '35260311222333000181570010000001011123456781'
const name = 'Ler código de barras com a câmera'

// No browser of the tests reads bar codes: this one sees what the page tells it.
async function withCamera(page: Page, refused = '') {
  await page.addInitScript((refused) => {
    class BarcodeDetector {
      static getSupportedFormats = async () => ['code_128']
      detect = async () => (globalThis as { seen?: { rawValue: string }[] }).seen ?? []
    }
    Object.assign(globalThis, { BarcodeDetector })
    navigator.mediaDevices.enumerateDevices = async () => [{ kind: 'videoinput' } as MediaDeviceInfo]
    navigator.mediaDevices.getUserMedia = async () => {
      if (refused) throw new DOMException('refused', refused)
      const canvas = document.createElement('canvas')
      canvas.getContext('2d')?.fillRect(0, 0, 9, 9)
      const stream = canvas.captureStream(10)
      Object.assign(globalThis, { stream })
      return stream
    }
  }, refused)
}

const see = (page: Page, ...texts: string[]) =>
  page.evaluate((texts) => Object.assign(globalThis, { seen: texts.map((rawValue) => ({ rawValue })) }) && null, texts)

test('the bar code in front of the camera opens its document, and the camera goes off', async () => {
  const page = await site.member(phone)
  await withCamera(page)
  const row = { idDfe: 'conhecimento-1', numero: 7, emitente: 'TRANSPORTES', chave: ofCte, status: {}, valor: 9 }
  const asked = await respond(page, '/v1/api/DocumentosFiscais', (request) => ({
    json: success({ items: request.url().includes(ofCte) ? [row] : [], totalDePaginas: 1 }),
  }))
  await site.go(page, '/notas-fiscais')
  await page.getByRole('button', { name }).click()
  const dialog = page.getByRole('dialog', { name: 'Ler código de barras' })
  await shown(dialog.getByText('Procurando o código de barras…'))
  await expectAccessible(page)
  await see(page, '7'.repeat(36))
  await shown(dialog.getByText(/^Este código de barras não é o de uma chave de acesso/))
  await see(page, '7'.repeat(36), ofCte)
  await page.waitForURL(`**/cte?busca=${ofCte}&periodo=todos&documento=conhecimento-1`)
  await dialog.waitFor({ state: 'detached' })
  expect(asked.some((request) => request.url().includes(`CampoPesquisa=${ofCte}`))).toBe(true)
  const states = () =>
    page.evaluate(() =>
      (globalThis as { stream?: MediaStream }).stream?.getTracks().map(({ readyState }) => readyState),
    )
  expect(await states()).toEqual(['ended'])
})

test('what is not here, or belongs to several, is looked for in the list', async () => {
  const page = await site.member()
  await withCamera(page)
  await site.go(page, '/notas-fiscais')
  await page.getByRole('button', { name }).click()
  await see(page, ofNfe)
  await page.waitForURL(`**/notas-fiscais?busca=${ofNfe}&periodo=todos`)
})

test('a camera that may not be used is explained', async () => {
  const page = await site.member(phone)
  await withCamera(page, 'NotAllowedError')
  await site.go(page, '/notas-fiscais')
  await page.getByRole('button', { name }).click()
  await shown(page.getByText(/^O navegador não deixou abrir a câmera\. Permita/))
  await shown(page.getByRole('button', { name: 'Tentar de novo' }))
})

test('where no camera can be used there is no button', async () => {
  const page = await site.member()
  await site.go(page, '/notas-fiscais')
  await shown(page.getByRole('heading', { level: 1, name: 'Notas Fiscais' }))
  await shown(page.getByRole('button', { name: 'Buscar' }))
  expect(await page.getByRole('button', { name }).count()).toBe(0)
})
