import { expect, test } from 'vitest'
import { ContactForm } from './contact.ts'

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
