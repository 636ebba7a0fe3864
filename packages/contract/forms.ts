import { parseCnpj } from '@vigia/dfe/cnpj'
import { cte, desacordo } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import { nfe } from '@vigia/dfe/families/nfe'
import { ufByCode } from '@vigia/dfe/uf'
import { z } from 'zod'
import { alertBands } from './alerts.ts'
import {
  alertGroupMax,
  answerRuleAnswers,
  answerRuleMax,
  askedMax,
  changeKinds,
  justificationMax,
  justificationMaxOf,
  purposes,
} from './codes.ts'
import {
  amountText,
  chosenCompanies,
  emailShape,
  familyCode,
  flag,
  idOf,
  isSamePassword,
  line,
  numberBetween,
  optionalPhone,
  password,
  passwordLength,
  requiredEmail,
  wholeNumber,
} from './fields.ts'
import { type MemberRole, memberRoles, scopes } from './route.ts'

// Schemas of forms, apart from the routes, because pages without a form need no validation.

// Section 5 has its own messages for the login.
const email = requiredEmail('Email deve ter um formato válido')

// Six digits of an authenticator app or a recovery code, with spaces and hyphens as people type.
const oneTimeCode = z
  .string('O código deve ser um texto')
  .trim()
  .min(6, 'O código tem pelo menos 6 caracteres')
  .max(40, 'O código tem no máximo 40 caracteres')

/** Login form (sections 3 and 5). */
export const LoginForm = z.object({
  email,
  senha: password({
    missing: 'Senha é obrigatória',
    short: 'Senha deve ter entre 6 e 100 caracteres',
    long: 'Senha deve ter entre 6 e 100 caracteres',
  }),
  /** Ours: of the second factor, for an account that has one. */
  codigo: oneTimeCode.optional(),
})

/** A code of the second factor, to switch it on. */
export const SecondFactorForm = z.object({ codigo: oneTimeCode })

/** Proof of identity of a logged-in person: a code with a second factor, else the password. */
export const ProofForm = z.object({
  senha: z
    .string('Senha deve ser um texto')
    .min(1, 'Digite a senha da conta')
    .max(400, 'Senha deve ter entre 6 e 100 caracteres')
    .optional(),
  codigo: oneTimeCode.optional(),
})

/** How a person calls a passkey of theirs. */
export const PasskeyForm = z.object({
  nome: line('Nome', 'Dê um nome à passkey')
    .min(1, 'Dê um nome à passkey')
    .max(60, 'O nome tem no máximo 60 caracteres'),
})

const unknownPlan = 'Tipo de plano deve ser 1 ou 2'

const personName = line('Nome', 'Nome é obrigatório')
  .min(1, { error: 'Nome é obrigatório', abort: true })
  .min(3, 'Nome deve ter pelo menos 3 caracteres')
  .max(100, 'Nome deve ter no máximo 100 caracteres')

/** Sign-up payload (sections 3 and 5); `celular` holds digits only and is omitted when empty. */
export const SignUpForm = z.object({
  nome: personName,
  email: requiredEmail('Email inválido'),
  senha: password({
    missing: 'Senha é obrigatória',
    short: 'Senha deve ter pelo menos 6 caracteres',
    long: 'Senha deve ter no máximo 100 caracteres',
  }),
  celular: optionalPhone,
  tipoPlano: wholeNumber(unknownPlan)
    .pipe(z.literal([1, 2], { error: unknownPlan }))
    .default(1),
})

/** How the person of an account is called and reached; ours. */
export const AccountForm = z.object({ nome: personName, celular: optionalPhone })

/** The request of a person who forgot the password (section 5). */
export const RecoveryForm = z.object({ email })

const chosenPassword = password({
  missing: 'Nova senha é obrigatória',
  short: 'A senha deve ter pelo menos 6 caracteres',
  long: 'A senha deve ter no máximo 100 caracteres',
})
const repeated = { error: 'As senhas não coincidem', path: ['senhaNovamente'] }

const linkOfMail = (name: string) =>
  z
    .string({ error: `Informe o link de ${name}.` })
    .trim()
    .min(1, `Informe o link de ${name}.`)
    .max(500, `O link de ${name} não é válido.`)

/** The confirmation of an e-mail; `urlAcesso` is the token of the link, or the whole link. */
export const ConfirmEmailForm = z.object({ urlAcesso: linkOfMail('confirmação') })

/** A new password by an e-mail link (sections 3 and 5); `urlAcesso`: its token or the link. */
export const NewPasswordForm = z
  .object({
    urlAcesso: linkOfMail('recuperação'),
    senha: chosenPassword,
    senhaNovamente: z.string({ error: 'As senhas não coincidem' }),
  })
  .refine((form) => isSamePassword(form.senha, form.senhaNovamente), repeated)

const currentPassword = z
  .string({ error: 'Senha atual é obrigatória' })
  .min(1, 'Senha atual é obrigatória')
  .refine((text) => passwordLength(text) <= 100, 'A senha atual não confere.')
  .meta({ maxLength: 100 })

/** Request to delete the account; ours. */
export const DeleteAccountForm = z.object({ senhaAtual: currentPassword })

/** Another e-mail of an account, asked for by a person who knows the password; ours. */
export const ChangeEmailForm = z.object({ email: requiredEmail('Email inválido'), senhaAtual: currentPassword })

/** A new password, set by a person who knows the old one; ours. */
export const ChangePasswordForm = z
  .object({
    senhaAtual: currentPassword,
    senha: chosenPassword,
    senhaNovamente: z.string({ error: 'As senhas não coincidem' }),
  })
  .refine((form) => isSamePassword(form.senha, form.senhaNovamente), repeated)

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

const chooseBoth = 'Por favor, selecione um certificado e digite a senha.'
const chooseFile = 'Por favor, selecione um arquivo .pfx ou .p12'
const noUf = 'Uf deve ser o código de um estado, como 35 para São Paulo'
const isPfx = (file: File) => /\.(pfx|p12)$/i.test(file.name)

/** New company: certificate and password (sections 5 and 7). */
export const NewCompanyForm = z.object({
  Certificado: z.file({ error: chooseBoth }).refine(isPfx, chooseFile),
  Senha: z.string({ error: chooseBoth }).min(1, chooseBoth),
  /** Ours: the filial to register, when the certificate belongs to its matriz. */
  Cnpj: z
    .string()
    .refine((text) => text.trim() === '' || parseCnpj(text) !== null, 'CNPJ inválido. Confira os 14 caracteres.')
    .optional(),
})

const optionalFlag = (field: string) => flag(field).optional()

/** Changes of a company (sections 5 and 7); omitted fields keep their values. */
export const EditCompanyForm = z.object({
  IdEmpresa: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.'),
  RazaoSocial: line('Razão social', 'Razão social é obrigatória')
    .min(1, 'Razão social é obrigatória')
    .max(200, 'Razão social deve ter no máximo 200 caracteres'),
  Email: z
    .string({ error: 'Email inválido' })
    .trim()
    .max(254, { error: 'Email inválido', abort: true })
    .refine((email) => email === '' || emailShape.test(email), 'Email inválido')
    .optional(),
  Uf: wholeNumber(noUf)
    .refine((code) => ufByCode(code) !== undefined, noUf)
    .optional(),
  SincronizacaoAutomatica: optionalFlag('SincronizacaoAutomatica'),
  'ConfiguracoesNfe.Emitente': optionalFlag('ConfiguracoesNfe.Emitente'),
  'ConfiguracoesNfe.Destinatario': optionalFlag('ConfiguracoesNfe.Destinatario'),
  'ConfiguracoesNfe.Transportador': optionalFlag('ConfiguracoesNfe.Transportador'),
  'ConfiguracoesNfe.Terceiro': optionalFlag('ConfiguracoesNfe.Terceiro'),
  'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': optionalFlag(
    'ConfiguracoesNfe.ManifestarCienciaAutomaticamente',
  ),
  'ConfiguracoesCte.Emitente': optionalFlag('ConfiguracoesCte.Emitente'),
  'ConfiguracoesCte.Remetente': optionalFlag('ConfiguracoesCte.Remetente'),
  'ConfiguracoesCte.Destinatario': optionalFlag('ConfiguracoesCte.Destinatario'),
  'ConfiguracoesCte.Expedidor': optionalFlag('ConfiguracoesCte.Expedidor'),
  'ConfiguracoesCte.Recebedor': optionalFlag('ConfiguracoesCte.Recebedor'),
  'ConfiguracoesCte.Tomador': optionalFlag('ConfiguracoesCte.Tomador'),
  'ConfiguracoesCte.Terceiro': optionalFlag('ConfiguracoesCte.Terceiro'),
  'CertificadoDigital.Certificado': z
    .union([z.file(), z.literal('')], { error: chooseFile })
    // A file field in which nothing was chosen arrives as an empty file without a name.
    .transform((file) => (file === '' || (file.size === 0 && !isPfx(file)) ? undefined : file))
    .refine((file) => !file || isPfx(file), { error: chooseFile, abort: true })
    .optional(),
  'CertificadoDigital.Senha': z.string().optional(),
})

/** Maximum size of a logo in pixels; the page shrinks larger pictures before it sends them. */
export const logoSizeMax = { width: 600, height: 400 }

const choosePicture = 'Por favor, selecione uma imagem PNG'

/** The logo of a company; ours. */
export const LogoForm = z.object({
  IdEmpresa: z.string({ error: 'Informe a empresa.' }).min(1, 'Informe a empresa.'),
  Logo: z.file({ error: choosePicture }).min(1, choosePicture),
})

const noDocument = 'Selecione pelo menos um documento para manifestar.'
/** A kind of manifestação that there is not. */
export const unknownType = 'Tipo de manifestação desconhecido.'
const noReason = 'A justificativa é obrigatória'

const typeOf = ({ answers }: Family) =>
  wholeNumber(unknownType).refine((code) => answers.some(({ choice }) => choice === code), unknownType)

const reasonTooLong = (max: number) => `A justificativa deve ter no máximo ${max} caracteres`

/** A justificativa of at most so many characters (section 5). */
export const justification = (max: number) =>
  z.string({ error: noReason }).trim().min(1, noReason).max(max, reasonTooLong(max))

/** Payload of a manifestação of NF-e (sections 3 and 5). */
export const ManifestationForm = z.object({
  justificativa: justification(justificationMax),
  idsDFe: z
    .array(z.string(), { error: noDocument })
    .min(1, noDocument)
    .max(300, 'Selecione no máximo 300 documentos de cada vez.'),
  tipoManifestacao: typeOf(nfe),
})

const nameOfField = (what: string) =>
  z
    .string({ error: `Informe ${what} de cada correção.` })
    .trim()
    .regex(/^[A-Za-z][A-Za-z0-9]{0,19}$/, `${what} de uma correção é um nome do XML, com até 20 letras e números.`)

/** One field of a Carta de Correção; ours, because the specification has one free text. */
export const CorrectionForm = z.object({
  grupoAlterado: nameOfField('grupoAlterado'),
  campoAlterado: nameOfField('campoAlterado'),
  valorAlterado: z
    .string({ error: 'Informe valorAlterado de cada correção.' })
    .trim()
    .min(1, 'Informe valorAlterado de cada correção.')
    .max(500, 'O novo valor de uma correção deve ter no máximo 500 caracteres.'),
  nroItemAlterado: numberBetween(1, 99, 'O número do item corrigido vai de 1 a 99.').optional(),
})

/** Payload of an event of CT-e (sections 3 and 5). */
export const CteManifestationForm = ManifestationForm.extend({
  justificativa: justification(justificationMaxOf(desacordo)),
  tipoManifestacao: typeOf(cte),
  correcoes: z
    .array(CorrectionForm, { error: 'As correções não estão no formato esperado.' })
    .min(1, 'Informe pelo menos uma correção.')
    .max(50, 'Informe no máximo 50 correções de cada vez.')
    .optional(),
}).superRefine(({ justificativa, tipoManifestacao }, { addIssue }) => {
  const max = justificationMaxOf(tipoManifestacao)
  if (justificativa.length > max) addIssue({ code: 'custom', path: ['justificativa'], message: reasonTooLong(max) })
})

/** A view of a list under a name; ours. */
export const SaveViewForm = z.object({
  tipoDFe: familyCode('tipoDFe'),
  nome: line('Nome', 'Nome é obrigatório')
    .min(1, { error: 'Nome é obrigatório', abort: true })
    .max(40, 'Nome deve ter no máximo 40 caracteres'),
  endereco: z
    .string({ error: 'endereco deve ser um texto' })
    .max(2000, 'endereco deve ter no máximo 2000 caracteres')
    .regex(/^[\w.~%=&+*-]*$/, 'endereco deve ser a consulta do endereço da lista, como status=1&ordem=valor'),
  inicial: flag('inicial'),
})

const noKeyName = 'Dê um nome à chave: o do sistema que vai usá-la'
const noScope = 'Escolha pelo menos uma permissão'
/** The longest time for which an API key is good when it is not good forever. */
export const keyDaysMax = 3 * 365
const badKeyDays = `A validade deve ser de 1 a ${keyDaysMax} dias`

/** How an API key is called; ours. */
export const keyName = line('Nome da chave', noKeyName)
  .min(1, noKeyName)
  .max(60, 'O nome da chave deve ter no máximo 60 caracteres')

/** A new API key; ours. */
export const KeyForm = z.object({
  nome: keyName,
  permissoes: z
    .array(z.enum(scopes, { error: 'Permissão desconhecida' }), { error: noScope })
    .min(1, noScope)
    .max(scopes.length, 'Há permissões repetidas'),
  /** Absent: until it is removed. */
  validadeEmDias: numberBetween(1, keyDaysMax, badKeyDays).nullish(),
  idsEmpresas: chosenCompanies(1_000),
})

/** The URL and message kinds of a webhook; ours. */
export const WebhookForm = z.object({
  endereco: z
    .string({ error: 'Informe o endereço do webhook.' })
    .trim()
    .min(1, 'Informe o endereço do webhook.')
    .max(2000, 'O endereço do webhook deve ter no máximo 2000 caracteres'),
  tipos: z
    .array(z.enum(changeKinds, { error: 'Tipo de alteração desconhecido' }), {
      error: 'Escolha os tipos de alteração.',
    })
    .min(1, 'Escolha pelo menos um tipo de alteração.')
    .max(changeKinds.length, 'Há tipos de alteração repetidos'),
  idsEmpresas: chosenCompanies(200),
})

/** Limit of members and invitations of a workspace; ours. */
export const peopleMax = 200

const rights = {
  papel: z.enum(memberRoles, { error: 'Escolha o que a pessoa pode.' }),
  idsEmpresas: chosenCompanies(1_000),
  /** The last day (aaaa-MM-dd) on which the person comes in; absent: without an end. */
  acessoAte: z.iso.date('Escreva o dia do fim do acesso como 2026-12-31.').nullish(),
}

const ofAdministrators = {
  error: 'Quem administra vê todas as empresas, sem data de fim. Escolha outro papel, ou tire as empresas e a data.',
  path: ['papel'],
}
const ofAuditors = { error: 'De um auditor, escolha as empresas e o último dia do acesso.', path: ['papel'] }

type Rights = { papel: MemberRole; idsEmpresas?: string[] | null | undefined; acessoAte?: string | null | undefined }
const isWhole = ({ papel, idsEmpresas, acessoAte }: Rights) => papel !== 'administrador' || !(idsEmpresas || acessoAte)
const isBounded = ({ papel, idsEmpresas, acessoAte }: Rights) => papel !== 'auditor' || (idsEmpresas && acessoAte)

/** An invitation to a workspace; ours. */
export const InvitationForm = z
  .object({ email: requiredEmail('Email inválido'), ...rights })
  .refine(isWhole, ofAdministrators)
  .refine(isBounded, ofAuditors)

/** Rights of a person in a workspace; ours. */
export const MemberForm = z
  .object({ idPessoa: idOf('a pessoa'), ...rights })
  .refine(isWhole, ofAdministrators)
  .refine(isBounded, ofAuditors)

/** How a workspace is called, and how its people have to come in; ours. */
export const WorkspaceForm = z.object({
  nome: line('Nome', 'Dê um nome ao workspace')
    .min(1, 'Dê um nome ao workspace')
    .max(100, 'O nome tem no máximo 100 caracteres'),
  exigeSegundoFator: flag('exigeSegundoFator'),
})

/** The account that accepts an invitation; `convite`: the token of its link or the link; ours. */
export const AcceptInvitationForm = z
  .object({
    convite: linkOfMail('convite'),
    nome: personName,
    senha: chosenPassword,
    senhaNovamente: z.string({ error: 'As senhas não coincidem' }),
  })
  .refine((form) => isSamePassword(form.senha, form.senhaNovamente), repeated)

/** Conditions of a rule: a note must match all that are given; without any, every note matches. */
export const AnswerConditions = z
  .object({
    idsEmpresa: z
      .array(z.string(), { error: 'idsEmpresa deve ser uma lista' })
      .min(1, 'Escolha ao menos uma empresa, ou todas.')
      .max(answerRuleMax.companies, 'Escolha menos empresas.')
      .optional(),
    emitentes: z
      .array(
        z
          .string()
          .transform((text) => text.replace(/[.\-/\s]/g, '').toUpperCase())
          .refine(
            (text) => /^([0-9A-Z]{8}|[0-9]{11}|[0-9A-Z]{12}[0-9]{2})$/.test(text),
            'Cada emitente é um CNPJ, a raiz de um CNPJ (8 posições) ou um CPF.',
          )
          .transform((text) => (text.length === 14 ? text.slice(0, 8) : text)),
      )
      .min(1, 'Informe ao menos um emitente.')
      .max(answerRuleMax.issuers, `Uma regra tem até ${answerRuleMax.issuers} emitentes.`)
      .optional()
      .describe('CNPJ (todos os estabelecimentos da mesma raiz), raiz ou CPF.'),
    emitenteNovo: flag('emitenteNovo')
      .optional()
      .describe('true: nenhum documento anterior da mesma raiz está aqui; false: há algum.'),
    comAlerta: z
      .enum(alertBands, 'comAlerta deve ser informativo, medio, alto ou critico')
      .optional()
      .describe('Com um alerta em aberto desta faixa ou mais grave.'),
    operacao: z
      .enum(['0', '1'], 'operacao deve ser 0 ou 1')
      .optional()
      .describe(
        'tpNF do emitente: 0 entrada (devolução ou retorno para ele), 1 saída. Antes de a nota ser lida só `perguntar` vale.',
      ),
    finalidades: z
      .array(z.enum(purposes, 'Cada finalidade é um finNFe, de 1 a 6.'))
      .min(1, 'Escolha ao menos uma finalidade, ou todas.')
      .max(purposes.length, 'Há finalidades repetidas')
      .optional()
      .describe('finNFe. Um resumo não o tem: dele só `perguntar` cuida, e segura a Ciência.'),
    cfops: z
      .array(
        z
          .string()
          .transform((text) => text.replace(/[.\s]/g, ''))
          .refine((text) => /^[1-7][0-9]{3}$/.test(text), 'Cada CFOP tem quatro algarismos, como 5102.'),
      )
      .min(1, 'Informe ao menos um CFOP.')
      .max(answerRuleMax.cfops, `Uma regra tem até ${answerRuleMax.cfops} CFOP.`)
      .optional()
      .describe(
        'Pelo menos um item tem um deles. Um resumo não os tem: dele só `perguntar` cuida, e segura a Ciência.',
      ),
    valorDe: amountText('valorDe').transform(Number).optional(),
    valorAte: amountText('valorAte').transform(Number).optional(),
  })
  .refine(({ valorDe, valorAte }) => valorDe === undefined || valorAte === undefined || valorDe <= valorAte, {
    message: 'O valor inicial não pode ser maior que o final',
    path: ['valorDe'],
  })

const ruleShape = {
  nome: line('O nome', 'Dê um nome à regra.').min(1, 'Dê um nome à regra.').max(60, 'O nome tem até 60 caracteres.'),
  ativa: flag('ativa').default(true),
  condicoes: AnswerConditions,
  resposta: z.enum(
    answerRuleAnswers,
    'resposta deve ser ciencia, ciencia-apos, perguntar, sugerir-confirmacao ou preparar-desconhecimento',
  ),
  dias: wholeNumber('dias deve ser um número')
    .pipe(z.int().min(1, 'A espera tem de 1 a 8 dias.').max(answerRuleMax.days, 'A espera tem de 1 a 8 dias.'))
    .optional(),
}
const daysNeeded = ({ resposta, dias }: { resposta: string; dias?: number | undefined }) =>
  (resposta === 'ciencia-apos') === (dias !== undefined)
const noDays = { message: 'Diga quantos dias a Ciência espera.', path: ['dias'] }

/** A rule as it is saved; with `idRegra` it replaces that one. */
export const AnswerRuleForm = z
  .object({ ...ruleShape, idRegra: z.string().optional() })
  .refine(daysNeeded, noDays)
  // A Ciência matters while only the summary is here, which has neither.
  .refine(
    ({ resposta, condicoes: { finalidades, cfops } }) =>
      (resposta !== 'ciencia' && resposta !== 'ciencia-apos') || (finalidades === undefined && cfops === undefined),
    {
      message:
        'Um resumo não tem finalidade nem CFOP: com essas condições a regra não registra a Ciência. Escolha outra resposta, ou tire essas condições.',
      path: ['resposta'],
    },
  )

/** From which amount on answers need a second person; null: none does. */
export const TwoPeopleForm = z.object({
  valor: amountText('valor')
    .transform(Number)
    .refine((amount) => amount > 0, 'O valor é de pelo menos R$ 0,01.')
    .nullable(),
})

/** Decision of a second person about pending answers. */
export const AskedForm = z
  .object({
    idsPedido: z
      .array(z.string(), { error: 'Escolha as respostas.' })
      .min(1, 'Escolha as respostas.')
      .max(askedMax, `Escolha no máximo ${askedMax} respostas de cada vez.`),
    aprovar: flag('aprovar'),
    motivo: line('Motivo', 'Diga o motivo.').max(200, 'O motivo tem no máximo 200 caracteres').optional(),
  })
  .refine(({ aprovar, motivo }) => aprovar || (motivo ?? '') !== '', {
    message: 'Diga o motivo da recusa: quem pediu o lê.',
    path: ['motivo'],
  })

const relatedBase = z
  .string()
  .transform((text) => text.replace(/[.\-/\s]/g, '').toUpperCase())
  .refine(
    (text) => /^([0-9A-Z]{8}|[0-9A-Z]{12}[0-9]{2})$/.test(text),
    'Cada empresa do grupo é um CNPJ ou a raiz de um (8 posições).',
  )
  .transform((text) => text.slice(0, 8))

/** Settings of a workspace for the alert rules. */
export const AlertSettingsForm = z.object({
  limite: amountText('limite')
    .transform(Number)
    .refine((amount) => amount >= 1 && amount < 1e10, 'O limite é de R$ 1,00 a R$ 9.999.999.999,99.')
    .nullable()
    .describe('Reais; null: o usual.'),
  grupos: z
    .array(
      z
        .array(relatedBase, { error: 'grupos deve ser uma lista de listas' })
        .min(2, 'Um grupo tem pelo menos dois CNPJ.')
        .max(alertGroupMax.bases, `Um grupo tem até ${alertGroupMax.bases} CNPJ.`),
      { error: 'grupos deve ser uma lista de listas' },
    )
    .max(alertGroupMax.groups, `Há até ${alertGroupMax.groups} grupos.`)
    .refine(
      (groups) => new Set(groups.flat()).size === groups.flat().length,
      'Um CNPJ está em dois grupos, ou duas vezes em um.',
    ),
})
