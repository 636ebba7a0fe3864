import { z } from 'zod'
import { line, optionalPhone, requiredEmail } from './fields.ts'
import { route } from './route.ts'

/** "Fale com a Gente" (section 2). */
export const ContactForm = z.object({
  nome: line('Nome', 'Nome é obrigatório')
    .min(1, { error: 'Nome é obrigatório', abort: true })
    .max(100, 'Nome deve ter no máximo 100 caracteres'),
  email: requiredEmail('Email inválido'),
  celular: optionalPhone,
  empresa: line('Empresa').max(200, 'Empresa deve ter no máximo 200 caracteres').optional(),
  mensagem: z
    .string({ error: 'Mensagem é obrigatória' })
    .trim()
    .min(1, { error: 'Mensagem é obrigatória', abort: true })
    .max(4000, 'A mensagem deve ter no máximo 4000 caracteres'),
  /** Hidden from people: what fills it in is a program. */
  confirmacao: z.string().max(1000).optional(),
})

/** Sends a message to whoever runs the product; ours, the specification shows a form and no call. */
export const sendContact = route({
  method: 'POST',
  path: '/v1/api/Contato',
  access: 'public',
  summary: 'Envia uma mensagem a quem cuida do produto.',
  refusals: [429],
  body: ContactForm,
  data: z.null(),
})
