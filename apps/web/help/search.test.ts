import { createHmac } from 'node:crypto'
import { exportMax } from '@vigia/contract/document-files'
import { describe, expect, test } from 'vitest'
import { type Article, questions, situations, words } from './articles.ts'
import { guides } from './guides.ts'
import { markTerms, plain, searchArticles, termsOf } from './search.ts'

const library: [string, Article[]][] = [
  ['p', [...questions]],
  ['s', [...situations]],
  ['g', guides.flatMap(({ steps }) => steps)],
  ['w', [...words]],
]
const first = (text: string) => searchArticles(library, text)[0]?.article.id

describe('the search finds', () => {
  test.each([
    ['137', '137'],
    ['138', '138'],
    ['656', '656'],
    ['593', '593'],
    ['573', '573'],
    ['589', '589'],
    ['217', '217'],
    ['640', '640'],
    ['rejeição 656', '656'],
    ['consumo indevido', '656'],
    ['captura bloqueada', '656'],
    ['certificado vencido', 'certificado-vencido'],
    ['CERTIFICADOS VENCIDOS', 'certificado-vencido'],
    ['certificado revogado', 'certificado-revogado'],
    ['senha do certificado', 'certificado-senha'],
    ['e-cpf', 'certificado-ecpf'],
    ['nunca', 'nunca'],
    ['so resumo', 'so-resumo'],
    ['só resumo', 'so-resumo'],
    ['reforma tributária', 'ibs-cbs'],
    ['cbs', 'ibs-cbs'],
    ['o que é NSU?', 'nsu'],
    ['tentativas', 'tentativas'],
    ['exportar zip', 'exportacao'],
    ['excluir a conta', 'sair'],
    ['sair com tudo', 'sair'],
    ['cadastrar empresa', 'adicionar-empresa'],
    ['sino', 'avisos'],
    ['sefaz fora do ar', 'sefaz-fora'],
    ['confirmar e-mail', 'confirmar-email'],
    ['chave de api', 'integracoes'],
    ['webhook', 'webhooks'],
  ])('%s', (text, id) => {
    expect(first(text)).toBe(id)
  })

  test('articles with some of the words when none has all of them', () => {
    expect(first('certificado vencido girafa')).toBe('certificado-vencido')
  })

  test('nothing for an empty search or for words in no article', () => {
    expect(searchArticles(library, '  ')).toEqual([])
    expect(searchArticles(library, 'girafa')).toEqual([])
    expect(searchArticles(library, '9999')).toEqual([])
    expect(searchArticles(library, '(*[')).toEqual([])
  })
})

test('the search ignores accents, filler words and plurals', () => {
  expect(termsOf('Qual é o prazo das Ciências?')).toEqual(['prazo', 'ciencia'])
  expect(plain('AÇÃO não')).toBe('acao nao')
})

test('found words are marked with their accents', () => {
  expect(markTerms('A Ciência sai; a ciencia volta', ['ciencia'])).toEqual([
    { text: 'A ', found: false },
    { text: 'Ciência', found: true },
    { text: ' sai; a ', found: false },
    { text: 'ciencia', found: true },
    { text: ' volta', found: false },
  ])
  expect(markTerms('1656 e 656', ['656'])).toEqual([
    { text: '1656 e ', found: false },
    { text: '656', found: true },
  ])
  expect(markTerms('nada', [])).toEqual([{ text: 'nada', found: false }])
})

test('every article has its own id and a link that exists', () => {
  const all = library.flatMap(([, articles]) => articles)
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  const places = all.flatMap(({ link }) => (link ? [link.to.replace(/[?#].*/, '')] : []))
  const screens = [
    '/dashboard',
    '/notas-fiscais',
    '/cte',
    '/empresas',
    '/empresas/nova',
    '/conta',
    '/auditoria',
    '/integracoes',
    '/equipe',
    '/alertas',
    '/relatorios',
    '/fretes',
    '/respostas',
    '/aprovacoes',
    '/reforma',
    '/vencimentos',
  ]
  expect(places.filter((place) => !screens.includes(place))).toEqual([])
  expect(questions).toHaveLength(5)
  expect(guides).toHaveLength(2)
})

test('the program that checks a signature takes what is sent, and nothing else', async () => {
  const { program } = situations.find(({ id }) => id === 'webhooks')!
  const source = `${program}\nexport { confere }`
  const { confere } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`)
  const [secret, body] = ['whsec_segredo', Buffer.from('{"tipo":"teste"}')]
  const signed = (seconds = Math.floor(Date.now() / 1000), by = secret) => {
    const digest = createHmac('sha256', by).update(`${seconds}.${body}`).digest('hex')
    return { 'vigia-timestamp': String(seconds), 'vigia-signature': `v1=${digest}` }
  }
  expect(confere(signed(), body, secret)).toBe(true)
  const both = [signed(undefined, 'whsec_outro'), signed()].map((one) => one['vigia-signature']).join(', ')
  expect(confere({ ...signed(), 'vigia-signature': both }, body, secret)).toBe(true)
  expect(confere(signed(), Buffer.from('{"tipo":"outro"}'), secret)).toBe(false)
  expect(confere(signed(undefined, 'whsec_outro'), body, secret)).toBe(false)
  expect(confere(signed(Math.floor(Date.now() / 1000) - 600), body, secret)).toBe(false)
  expect(confere({ ...signed(), 'vigia-timestamp': 'x' }, body, secret)).toBe(false)
})

test('the limits of an export are those of the server', () => {
  const words = questions.find(({ id }) => id === 'exportacao')?.body.join(' ')
  for (const limit of Object.values(exportMax)) expect(words).toContain(limit.toLocaleString('pt-BR'))
})
