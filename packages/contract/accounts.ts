import { z } from 'zod'
import { route } from './route.ts'

// Each part of the domain begins where the last dot ended: there is one way to match, so that a long text costs no more than its length.
const emailShape = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/

// Section 5 gives the login its own order and words; a blank e-mail counts as missing.
const email = z
  .string({ error: 'Email é obrigatório' })
  .trim()
  .min(1, { error: 'Email é obrigatório', abort: true })
  .max(254, { error: 'Email deve ter um formato válido', abort: true })
  .regex(emailShape, 'Email deve ter um formato válido')

/** Login form (sections 3 and 5). */
export const LoginForm = z.object({
  email,
  senha: z
    .string({ error: 'Senha é obrigatória' })
    .min(1, { error: 'Senha é obrigatória', abort: true })
    .refine(
      (senha) => senha === '' || (senha.length >= 6 && senha.length <= 100),
      'Senha deve ter entre 6 e 100 caracteres',
    ),
})

/** Sign-up payload (sections 3 and 5); `celular` holds digits only and is omitted when empty. */
export const SignUpForm = z.object({
  nome: z
    .string({ error: 'Nome é obrigatório' })
    .trim()
    .min(1, { error: 'Nome é obrigatório', abort: true })
    .min(3, 'Nome deve ter pelo menos 3 caracteres')
    .max(100, 'Nome deve ter no máximo 100 caracteres'),
  email: z
    .string({ error: 'Email é obrigatório' })
    .trim()
    .min(1, { error: 'Email é obrigatório', abort: true })
    .max(254, { error: 'Email inválido', abort: true })
    .regex(emailShape, 'Email inválido'),
  senha: z
    .string({ error: 'Senha é obrigatória' })
    .min(1, { error: 'Senha é obrigatória', abort: true })
    .min(6, 'Senha deve ter pelo menos 6 caracteres')
    .max(100, 'Senha deve ter no máximo 100 caracteres'),
  // Digits only on the wire; a mask is taken off, and nothing but a mask is no number.
  celular: z
    .string()
    .max(30, 'Número de celular deve ter entre 10 e 11 dígitos')
    .transform((text) => text.replace(/\D/g, '') || undefined)
    .pipe(
      z
        .string()
        .regex(/^\d{10,11}$/, 'Número de celular deve ter entre 10 e 11 dígitos')
        .optional(),
    )
    .optional(),
  tipoPlano: z.union([z.literal(1), z.literal(2)], { error: 'Tipo de plano deve ser 1 ou 2' }).default(1),
})

/** Whether the service is up (section 7). */
export const health = route({
  method: 'GET',
  path: '/health',
  access: 'public',
  summary: 'Diz se o serviço está de pé.',
  data: z.object({ status: z.literal('ok'), versao: z.string() }),
})

/** Opens a session (section 7). */
export const login = route({
  method: 'POST',
  path: '/v1/api/Auth',
  access: 'public',
  summary: 'Abre uma sessão e devolve o token e o identificador do workspace.',
  body: LoginForm,
  data: z.object({ token: z.string(), wsId: z.string() }),
})

/** Ends the session of the token; ours, section 7 has no such call. */
export const logout = route({
  method: 'POST',
  path: '/v1/api/Auth/sair',
  access: 'session',
  summary: 'Encerra a sessão do token.',
  data: z.null(),
})

/** Creates an account with its workspace (section 7). */
export const signUp = route({
  method: 'POST',
  path: '/v1/api/Usuarios',
  access: 'public',
  summary: 'Cria a conta e o workspace dela.',
  body: SignUpForm,
  data: z.null(),
})
