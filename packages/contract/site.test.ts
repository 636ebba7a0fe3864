import { expect, test } from 'vitest'
import { ContactForm } from './forms.ts'
import { exampleSite, fillPage, placesFor, type SiteSettings } from './site.ts'

const form = { nome: 'Zé', email: 'ze@x.example', mensagem: 'Oi' }

test('name and company are one line each', () => {
  const sent = { ...form, nome: ' Zé\nE-mail: outro@x.example ', empresa: 'Açúcar\u2028 \u202e& Cia\t' }
  expect(ContactForm.parse(sent)).toMatchObject({ nome: 'Zé E-mail: outro@x.example', empresa: 'Açúcar & Cia' })
})

test('a name that shows nothing is none, and neither is such a company', () => {
  const issues = ContactForm.safeParse({ ...form, nome: '\u200b\u2066' }).error?.issues
  expect(issues?.map(({ message }) => message)).toEqual(['Nome é obrigatório'])
  expect(ContactForm.parse({ ...form, empresa: ' \u200b\u202e ' }).empresa).toBe('')
})

test('the message is as it was written', () => {
  const mensagem = 'Temos 40 CNPJs.\n\n  Quanto custa?'
  expect(ContactForm.parse({ ...form, mensagem }).mensagem).toBe(mensagem)
})

const settings: SiteSettings = {
  productName: 'Vigia & Cia "Fiscal"',
  publicUrl: 'https://vigia.example',
  ambiente: 'simulado',
  contactEmail: null,
  whatsapp: null,
  cadastroAberto: true,
  planos: true,
  demo: { email: 'demo@x.example', senha: "</script>%PRODUCT_NAME%<'>" },
  ...exampleSite,
  exemplos: { numeros: true, depoimentos: false },
  senhaDoCertificadoDeTeste: null,
  demonstracaoAberta: false,
  pesquisa: null,
  privacidade: { responsavel: null, encarregado: null, incidentes: null },
}

test('a finished page has a placeholder for each setting, and the installation fills it', () => {
  const { productName, demo, depoimentos, numeros } = placesFor(settings)
  expect([productName, demo?.email, numeros.uptime]).toEqual(['%PRODUCT_NAME%', '%DEMO_EMAIL%', '%NUMEROS_UPTIME%'])
  const [first] = settings.depoimentos
  const page = `<p title="${productName}">${depoimentos[0]?.texto} ${depoimentos[0]?.nota} ${demo?.senha}</p>%EXEMPLOS_DEPOIMENTOS%`
  expect(fillPage(page, settings)).toBe(
    `<p title="Vigia &#38; Cia &#34;Fiscal&#34;">${first?.texto} 5 &#60;/script&#62;%PRODUCT_NAME%&#60;&#39;&#62;</p>false`,
  )
})

test('what an installation does not have is empty', () => {
  expect(fillPage('[%CONTACT_EMAIL%][%PESQUISA_ENDERECO%] 99.9% 10%', settings)).toBe('[][] 99.9% 10%')
})

test('the settings of the script are JSON that ends no element, and nothing in them is a place', () => {
  const text = fillPage('<script>"%SITE_SETTINGS%"</script>', settings).slice('<script>'.length, -'</script>'.length)
  expect(text).not.toContain('</script>')
  expect(JSON.parse(text)).toEqual(settings)
})
