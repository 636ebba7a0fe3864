import { z } from 'zod'
import { deletionDays } from './codes.ts'
import {
  AccountForm,
  ChangeEmailForm,
  ChangePasswordForm,
  ConfirmEmailForm,
  DeleteAccountForm,
  LoginForm,
  NewPasswordForm,
  PasskeyForm,
  ProofForm,
  RecoveryForm,
  SecondFactorForm,
  SignUpForm,
} from './forms.ts'
import { memberRoles, route } from './route.ts'

/** Whether the service is ready: a login would work (section 7). */
export const health = route({
  method: 'GET',
  path: '/health',
  access: 'public',
  summary: 'Diz se o serviço está pronto: com 200, entrar funciona; com 503, ainda não ou não mais.',
  data: z.object({ status: z.literal('ok'), versao: z.string() }),
})

/** Opens a session (section 7). 403: right password, `codigo` of the second factor missing. */
export const login = route({
  method: 'POST',
  path: '/v1/api/Auth',
  access: 'public',
  summary:
    'Abre uma sessão e devolve o token e o identificador do workspace. Se a conta tem verificação em duas etapas, sem `codigo` responde 403.',
  refusals: [401, 403, 409, 429],
  body: LoginForm,
  data: z.object({ token: z.string(), wsId: z.string() }),
})

/** Ends the session of the token; ours, section 7 has no such call. */
export const logout = route({
  method: 'POST',
  path: '/v1/api/Auth/sair',
  shared: true,
  atLeast: 'pessoa',
  summary: 'Encerra a sessão do token.',
})

const base64url = (bytesMax: number) =>
  z
    .string()
    .max(Math.ceil((bytesMax * 4) / 3), 'A passkey é grande demais')
    .regex(/^[\w-]*={0,2}$/, 'A passkey não está em base64url')

// Common part of a WebAuthn credential in JSON, as browsers write it (level 3, section 5.1).
const credential = {
  id: base64url(1_023),
  rawId: base64url(1_023),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).optional().catch(undefined),
  clientExtensionResults: z.object({}).default({}),
}

/** Result of registering a passkey: `RegistrationResponseJSON` of WebAuthn. */
export const PasskeyRegistration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(4_096),
    attestationObject: base64url(16_384),
    transports: z.array(z.string().max(40)).max(10).optional(),
  }),
})
export type PasskeyRegistration = z.output<typeof PasskeyRegistration>

/** Result of signing in with a passkey: `AuthenticationResponseJSON` of WebAuthn. */
export const PasskeyAnswer = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(4_096),
    authenticatorData: base64url(4_096),
    signature: base64url(4_096),
    userHandle: base64url(64).optional(),
  }),
})
export type PasskeyAnswer = z.output<typeof PasskeyAnswer>

/** Confirms the person's identity for calls that answered 403; valid for ten minutes. Ours. */
export const proveIdentity = route({
  method: 'POST',
  path: '/v1/api/Auth/confirmar',
  shared: true,
  atLeast: 'pessoa',
  summary:
    'Confirma quem usa esta sessão, pela senha, por um código ou por uma passkey; vale por dez minutos para o que responde 403.',
  refusals: [429],
  body: ProofForm.extend({ passkey: PasskeyAnswer.optional() }),
})

/** Returns `PublicKeyCredentialRequestOptionsJSON` of WebAuthn, to request a passkey; ours. */
export const challengePasskey = route({
  method: 'POST',
  path: '/v1/api/Auth/desafio',
  access: 'public',
  summary: 'Devolve o desafio que uma passkey assina, para entrar ou para confirmar quem usa a sessão.',
  refusals: [409],
  data: z.looseObject({ challenge: z.string(), rpId: z.string() }),
})

/** Opens a session by a passkey alone; ours. */
export const loginByPasskey = route({
  method: 'POST',
  path: '/v1/api/Auth/passkey',
  access: 'public',
  summary: 'Abre uma sessão com uma passkey, que assina o desafio.',
  refusals: [401, 409, 429],
  body: z.object({ resposta: PasskeyAnswer }),
  data: z.object({ token: z.string(), wsId: z.string(), email: z.string() }),
})

/** Returns `PublicKeyCredentialCreationOptionsJSON` of WebAuthn, to create a passkey; ours. */
export const beginPasskey = route({
  method: 'POST',
  path: '/v1/api/Usuarios/passkeys/desafio',
  atLeast: 'pessoa',
  proof: 'always',
  summary: 'Começa a cadastrar uma passkey: devolve o que o navegador precisa para criá-la.',
  refusals: [409],
  data: z.looseObject({
    challenge: z.string(),
    rp: z.looseObject({ name: z.string() }),
    user: z.looseObject({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.looseObject({ alg: z.number(), type: z.literal('public-key') })),
  }),
})

/** Keeps a passkey that the browser made; ours. */
export const addPasskey = route({
  method: 'POST',
  path: '/v1/api/Usuarios/passkeys',
  atLeast: 'pessoa',
  proof: 'always',
  summary: 'Guarda a passkey que o navegador criou.',
  refusals: [409],
  body: PasskeyForm.extend({ resposta: PasskeyRegistration }),
})

/** Removes a passkey of the account; ours. */
export const removePasskey = route({
  method: 'POST',
  path: '/v1/api/Usuarios/passkeys/remover',
  atLeast: 'pessoa',
  proof: 'always',
  summary: 'Remove uma passkey da conta.',
  refusals: [404],
  body: z.object({ idPasskey: z.string({ error: 'Informe a passkey.' }).min(1, 'Informe a passkey.') }),
})

/** Creates the secret of a second factor, which is on after a first valid code. Ours. */
export const beginSecondFactor = route({
  method: 'POST',
  path: '/v1/api/Usuarios/duas-etapas',
  atLeast: 'pessoa',
  proof: 'always',
  summary: 'Começa a ligar a verificação em duas etapas: devolve o segredo para o aplicativo autenticador.',
  refusals: [409],
  data: z.object({
    /** Base32, to be typed. */
    segredo: z.string(),
    /** `otpauth://`, to be shown as a QR code. */
    endereco: z.string(),
  }),
})

const RecoveryCodes = z.object({ codigos: z.array(z.string()) })

/** Switches the second factor on; the codes are shown this once. Ours. */
export const confirmSecondFactor = route({
  method: 'PUT',
  path: '/v1/api/Usuarios/duas-etapas',
  atLeast: 'pessoa',
  proof: 'always',
  summary: 'Liga a verificação em duas etapas com um código do aplicativo e devolve os códigos de recuperação.',
  refusals: [409],
  body: SecondFactorForm,
  data: RecoveryCodes,
})

/** Makes other codes to be kept; ours. */
export const renewRecoveryCodes = route({
  method: 'POST',
  path: '/v1/api/Usuarios/duas-etapas/codigos',
  atLeast: 'pessoa',
  proof: 'always',
  summary: 'Gera outros códigos de recuperação; os anteriores deixam de valer.',
  refusals: [409],
  data: RecoveryCodes,
})

/** Switches the second factor off; ours. */
export const dropSecondFactor = route({
  method: 'POST',
  path: '/v1/api/Usuarios/duas-etapas/desligar',
  atLeast: 'pessoa',
  proof: 'always',
  summary: 'Desliga a verificação em duas etapas.',
  refusals: [409],
})

/** Explains how people get an account when sign-up is closed. */
export const byInvitation =
  'Aqui as contas são feitas por convite: peça um a quem administra o sistema na sua empresa ou no seu escritório, e ele chega por e-mail.'

/** Creates an account with its workspace (section 7). */
export const signUp = route({
  method: 'POST',
  path: '/v1/api/Usuarios',
  access: 'public',
  summary: 'Cria a conta e o workspace dela. Onde as contas são feitas por convite responde 403.',
  refusals: [403, 429],
  body: SignUpForm,
})

/** Requests a recovery link (section 7); the answer is the same whether an account exists or not. */
export const requestRecovery = route({
  method: 'POST',
  path: '/v1/api/RecuperarSenha',
  access: 'public',
  summary: 'Envia um e-mail com o link para criar uma senha nova, se houver uma conta com o endereço.',
  refusals: [429],
  body: RecoveryForm,
})

/** Whether a link still works (section 7). */
export const checkRecovery = route({
  method: 'GET',
  path: '/v1/api/RecuperarSenha/{token}',
  access: 'public',
  summary: 'Diz se um link de recuperação ainda vale; senão, se expirou, se já foi usado ou se não existe.',
  refusals: [404, 410, 429],
  params: z.object({ token: z.string() }),
  data: z.object({ validoAte: z.string() }),
})

/** Replaces the password by a link, and ends every session of the account (section 7). */
export const updatePassword = route({
  method: 'POST',
  path: '/v1/api/RecuperarSenha/atualizar-senha',
  access: 'public',
  summary: 'Troca a senha com o link recebido por e-mail; o link vale uma vez só.',
  refusals: [404, 410, 429],
  body: NewPasswordForm,
})

/** The account that is logged in; ours. */
export const getAccount = route({
  method: 'GET',
  path: '/v1/api/Usuarios/conta',
  atLeast: 'pessoa',
  summary: 'A conta desta sessão.',
  data: z.object({
    nome: z.string(),
    email: z.string(),
    celular: z.string().nullable(),
    criadaEm: z.string(),
    /** True for a shared login: its password and the sessions of other people cannot be changed. */
    compartilhada: z.boolean(),
    /** False: no certificates are accepted and no e-mails sent until the e-mail link is opened. */
    emailConfirmado: z.boolean(),
    /** The second factor: start, and number of unused recovery codes; null: it is off. */
    duasEtapas: z.object({ desde: z.string(), codigosRestantes: z.number() }).nullable(),
    /** Its passkeys, the oldest first; null: the address of the product allows none. */
    passkeys: z
      .array(
        z.object({ idPasskey: z.string(), nome: z.string(), criadaEm: z.string(), usadaEm: z.string().nullable() }),
      )
      .nullable(),
    /** New e-mail, valid once the link sent to it is opened; null: no change is pending. */
    emailNovo: z.string().nullable(),
    /** Time when the account and all its data will be deleted; null: no deletion was requested. */
    exclusaoEm: z.string().nullable(),
    /** The workspace of the session, and the person's role in it. */
    workspace: z.string(),
    papel: z.enum(memberRoles),
    /** The companies that the person may see; null: all. */
    idsEmpresas: z.array(z.string()).nullable(),
    /** The person is in other workspaces too. */
    outrosWorkspaces: z.boolean(),
    /** The workspace requires a second factor or passkey, without which this session is blocked. */
    faltaSegundoFator: z.boolean(),
    /** The last day of the person in the workspace has gone: nothing else works. */
    acessoEncerrado: z.boolean(),
  }),
})

/** Changes name and phone of the account; ours. */
export const updateAccount = route({
  method: 'PUT',
  path: '/v1/api/Usuarios/conta',
  atLeast: 'pessoa',
  summary: 'Altera o nome e o celular da conta desta sessão; sem celular fica sem.',
  refusals: [409],
  body: AccountForm,
})

/** Sends a link to another e-mail, which becomes the one of the account when it is opened; ours. */
export const changeEmail = route({
  method: 'POST',
  path: '/v1/api/Usuarios/trocar-email',
  atLeast: 'pessoa',
  summary: 'Envia a outro e-mail o link que faz dele o e-mail da conta.',
  refusals: [409, 429],
  body: ChangeEmailForm,
})

/** Takes the request for another e-mail back; ours. */
export const dropEmailChange = route({
  method: 'POST',
  path: '/v1/api/Usuarios/desistir-da-troca-de-email',
  atLeast: 'pessoa',
  summary: 'Desfaz o pedido de troca do e-mail da conta; o link enviado deixa de valer.',
})

/** Confirms the e-mail of an account, or its change, by the link that a letter brought; ours. */
export const confirmEmail = route({
  method: 'POST',
  path: '/v1/api/Usuarios/confirmar-email',
  access: 'public',
  summary: 'Confirma o e-mail de uma conta, ou a troca dele, com o link recebido por e-mail; o link vale uma vez só.',
  refusals: [404, 409, 410],
  body: ConfirmEmailForm,
})

/** Sends the link once more; ours. */
export const resendConfirmation = route({
  method: 'POST',
  path: '/v1/api/Usuarios/reenviar-confirmacao',
  atLeast: 'pessoa',
  summary: 'Envia de novo o link que confirma o e-mail desta conta.',
  refusals: [429],
})

/** Destroys private keys at once, and the rest of the account after thirty days; ours. */
export const deleteAccount = route({
  method: 'POST',
  path: '/v1/api/Usuarios/excluir',
  atLeast: 'administrador',
  summary: `Pede a exclusão da conta: apaga as chaves privadas agora e o resto em ${deletionDays} dias.`,
  refusals: [409, 429],
  body: DeleteAccountForm,
  data: z.object({ exclusaoEm: z.string() }),
})

/** Keeps an account whose deletion was asked for; the keys are gone. Ours. */
export const keepAccount = route({
  method: 'POST',
  path: '/v1/api/Usuarios/manter',
  atLeast: 'administrador',
  summary: 'Desfaz o pedido de exclusão da conta; as chaves privadas não voltam.',
  refusals: [409],
})

/** Changes the password and ends the other sessions; ours. */
export const changePassword = route({
  method: 'PUT',
  path: '/v1/api/Usuarios/senha',
  atLeast: 'pessoa',
  summary: 'Troca a senha de quem sabe a atual e encerra as outras sessões.',
  refusals: [409, 429],
  body: ChangePasswordForm,
})

/** An open session of the account. */
export const SessionRow = z.object({
  idSessao: z.string(),
  /** Workspace in which it is open. */
  workspace: z.string(),
  /** The one that asks. */
  atual: z.boolean(),
  abertaEm: z.string(),
  /** To the hour. */
  vistaEm: z.string(),
  expiraEm: z.string(),
  endereco: z.string().nullable(),
  /** As the program calls itself. */
  navegador: z.string().nullable(),
})

/** Lists open sessions, newest first; for a shared account only the caller's. Ours. */
export const listSessions = route({
  method: 'GET',
  path: '/v1/api/Auth/sessoes',
  atLeast: 'pessoa',
  summary: 'As sessões abertas desta conta.',
  data: z.array(SessionRow),
})

/** Ends one session of the account or, without `idSessao`, all but the one that asks; ours. */
export const endSessions = route({
  method: 'POST',
  path: '/v1/api/Auth/encerrar-sessoes',
  shared: true,
  atLeast: 'pessoa',
  summary: 'Encerra uma sessão desta conta ou, sem `idSessao`, todas as outras.',
  refusals: [404, 409],
  body: z.object({ idSessao: z.string({ error: 'idSessao deve ser um texto.' }).optional() }),
  data: z.object({ encerradas: z.number() }),
})
