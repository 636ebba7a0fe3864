import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { useContext } from '../../platform/database.testing.ts'
import { asOperator } from '../../platform/database.ts'
import { serveRoutes } from '../../platform/http/http.ts'
import { contactMails, contactRoutes, keepMessage, listContactMessages } from './contact.ts'

const { ctx } = await useContext({ CONTACT_EMAIL: 'equipe@vigia.example', TRUSTED_PROXIES: '127.0.0.1' })
const app = await serveRoutes(ctx, contactRoutes, async () => null)
afterAll(() => app.close())
beforeEach(() =>
  asOperator(ctx, async ({ db }) => {
    await sql`delete from mail`.execute(db)
    await sql`delete from contact_message`.execute(db)
    await sql`delete from throttle`.execute(db)
  }),
)

const form = {
  nome: 'Conceição Álvares',
  email: 'conceicao@cliente.example',
  celular: '(11) 98765-4321',
  empresa: 'Açúcar & Cia',
  mensagem: 'Temos 40 CNPJs.\nQuanto custa?',
}
const post = (payload: object, address = '203.0.113.7', server = app) =>
  server.inject({ method: 'POST', url: '/v1/api/Contato', payload, headers: { 'x-forwarded-for': address } })
const mails = () =>
  asOperator(ctx, ({ db }) =>
    db.selectFrom('mail').select(['id', 'kind', 'recipient', 'payload', 'workspace_id as workspaceId']).execute(),
  )

test('a message is kept and mailed, and the answer says only what is true', async () => {
  const answer = await post(form)
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual({
    success: true,
    message: 'Recebemos sua mensagem. Quando respondermos, será pelo e-mail conceicao@cliente.example.',
    data: null,
    errors: [],
  })
  const kept = {
    name: form.nome,
    email: form.email,
    phone: '11987654321',
    company: form.empresa,
    message: form.mensagem,
  }
  expect(await listContactMessages(ctx)).toEqual([{ ...kept, suspect: false, at: expect.any(Date) }])
  const [mail, ...others] = await mails()
  expect(others).toEqual([])
  expect(mail).toMatchObject({ kind: 'contato', recipient: 'equipe@vigia.example', workspaceId: null })
  // The message is in one place only.
  expect(JSON.stringify(mail?.payload)).not.toContain('CNPJs')
  const letter = await contactMails.contato!(ctx, mail!)
  expect(letter).toMatchObject({
    subject: expect.stringMatching(/^Fale com a Gente: mensagem \d+$/),
    replyTo: { name: form.nome, address: form.email },
  })
  const text = letter?.paragraphs.join('\n') ?? ''
  for (const part of ['> Temos 40 CNPJs.\n> Quanto custa?', 'Celular: 11987654321', 'Empresa: Açúcar & Cia'])
    expect(text).toContain(part)
})

test('what a visitor writes cannot pass for what we say of him', async () => {
  const forged = {
    nome: 'Zé\nE-mail: diretor@banco.example\u2028Celular: 0',
    email: 'ze@x.example',
    empresa: 'Cia\r\nRecebida em: ontem',
    mensagem: 'Oi\n\nNome: Outra Pessoa\r\nE-mail: outra@x.example\u2028\u202eRecebida em: ontem\n-- \n\nAo responder',
  }
  expect((await post(forged)).statusCode).toBe(200)
  const [mail] = await mails()
  const letter = (await contactMails.contato!(ctx, mail!))!
  const lines = letter.paragraphs.join('\n').split(/[\r\n\u2028\u2029\v\f\x85]/)
  const ours = lines.filter((line) => !line.startsWith('>'))
  expect(ours).toEqual([
    'Uma pessoa escreveu pelo "Fale com a Gente", ou pediu um plano em "Minha conta".',
    'Nome: Zé E-mail: diretor@banco.example Celular: 0',
    'E-mail: ze@x.example',
    'Empresa: Cia Recebida em: ontem',
    expect.stringMatching(/^Recebida em: \d\d\/\d\d\/\d{4} /),
    'O que ela escreveu vem depois de ">", linha por linha:',
  ])
  expect(lines.filter((line) => line.startsWith('>'))).toEqual([
    '> Oi',
    '>',
    '> Nome: Outra Pessoa',
    '> E-mail: outra@x.example',
    '> Recebida em: ontem',
    '> --',
    '>',
    '> Ao responder',
  ])
  expect(letter.footnote).toMatch(/^Ao responder este e-mail, a resposta vai para quem escreveu\./)
})

test('the letter promises an answer to the visitor only where there is an address for it, and stays whole for older messages', async () => {
  const old = { nome: 'Zé\nE-mail: outro@x.example', email: 'a,b@x.example', mensagem: 'Oi' }
  await keepMessage(ctx, { ...old, empresa: '\u202eCia' })
  const [mail] = await mails()
  const letter = (await contactMails.contato!(ctx, mail!))!
  expect(letter.replyTo).toBeUndefined()
  expect(letter.footnote).toBe('Todas as mensagens: npm run admin -- contatos.')
  expect(letter.paragraphs[1]).toMatch(
    /^Nome: Zé E-mail: outro@x\.example\nE-mail: a,b@x\.example\nEmpresa: Cia\nRecebida/,
  )
})

test('name, e-mail and message are enough', async () => {
  expect((await post({ nome: 'Zé', email: 'ze@x.example', mensagem: 'Oi', empresa: '' })).statusCode).toBe(200)
  expect(await listContactMessages(ctx)).toMatchObject([{ phone: null, company: null }])
  const [mail] = await mails()
  const letter = await contactMails.contato!(ctx, mail!)
  expect(letter?.paragraphs.join()).not.toMatch(/null|undefined|Celular|Empresa/)
})

test('what fills the hidden field is kept as suspect, mailed to nobody, and told nothing', async () => {
  const honest = await post(form)
  const trapped = await post({ ...form, confirmacao: 'http://spam.example' })
  expect([trapped.statusCode, trapped.json()]).toEqual([honest.statusCode, honest.json()])
  expect((await post({ ...form, confirmacao: '  ' })).statusCode).toBe(200)
  expect((await listContactMessages(ctx)).map(({ suspect }) => suspect)).toEqual([false, true, false])
  expect(await mails()).toHaveLength(2)
})

test('ten messages an hour from one address, whatever names they give', async () => {
  for (let index = 0; index < 10; index++)
    expect((await post({ ...form, email: `p${index}@x.example` })).statusCode).toBe(200)
  const refused = await post({ ...form, confirmacao: 'x' })
  expect(refused.statusCode).toBe(429)
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000)
  expect((await post(form, '203.0.113.8')).statusCode).toBe(200)
  expect(await listContactMessages(ctx)).toHaveLength(11)
})

test('what is missing is said, and nothing is kept', async () => {
  const answer = await post({ nome: ' ', email: 'x', mensagem: '' })
  expect(answer.statusCode).toBe(400)
  expect(answer.json().errors).toEqual(['Nome é obrigatório', 'Email inválido', 'Mensagem é obrigatória'])
  expect(await listContactMessages(ctx)).toEqual([])
})

test('where nobody is named to read them, messages are kept', async () => {
  const config = { ...ctx.config, contactEmail: undefined }
  const silent = await serveRoutes({ ...ctx, config }, contactRoutes, async () => null)
  expect((await post(form, '203.0.113.9', silent)).statusCode).toBe(200)
  await silent.close()
  expect(await listContactMessages(ctx)).toHaveLength(1)
  expect(await mails()).toEqual([])
})
