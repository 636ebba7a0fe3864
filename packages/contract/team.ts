import { z } from 'zod'
import { idOf } from './fields.ts'
import { AcceptInvitationForm, InvitationForm, MemberForm, WorkspaceForm } from './forms.ts'
import { memberRoles, route } from './route.ts'

// Members of a workspace, and workspaces of a person. All of it is ours.

const rights = {
  papel: z.enum(memberRoles),
  /** Null: all. */
  idsEmpresas: z.array(z.string()).nullable(),
  /** Null: without an end. */
  acessoAte: z.string().nullable(),
}

/** Lists members and pending invitations of the workspace; ours. */
export const getTeam = route({
  method: 'GET',
  path: '/v1/api/Equipe',
  atLeast: 'administrador',
  summary: 'As pessoas do workspace, o que cada uma pode, e os convites que esperam resposta.',
  data: z.object({
    nome: z.string(),
    exigeSegundoFator: z.boolean(),
    pessoas: z.array(
      z.object({
        idPessoa: z.string(),
        nome: z.string(),
        email: z.string(),
        ...rights,
        desde: z.string(),
        vistaEm: z.string().nullable(),
        /** The one that asks. */
        voce: z.boolean(),
      }),
    ),
    convites: z.array(
      z.object({
        idConvite: z.string(),
        email: z.string(),
        ...rights,
        enviadoEm: z.string(),
        validoAte: z.string(),
        vencido: z.boolean(),
      }),
    ),
  }),
})

/** Names the workspace, and says whether everybody needs a second factor or a passkey; ours. */
export const updateWorkspace = route({
  method: 'PUT',
  path: '/v1/api/Equipe',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Dá nome ao workspace e diz se todos precisam de verificação em duas etapas ou de passkey.',
  refusals: [409],
  body: WorkspaceForm,
})

/** Sends an invitation by e-mail; the answer does not reveal whether an account exists. Ours. */
export const invite = route({
  method: 'POST',
  path: '/v1/api/Equipe/convites',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Convida alguém por e-mail; o link vale uma vez, por sete dias.',
  refusals: [404, 409, 429],
  body: InvitationForm,
  data: z.object({ idConvite: z.string() }),
})

/** Sends the letter again, with a new link; ours. */
export const resendInvitation = route({
  method: 'POST',
  path: '/v1/api/Equipe/convites/reenviar',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Envia o convite outra vez, com outro link por mais sete dias; o anterior deixa de valer.',
  refusals: [404, 429],
  body: z.object({ idConvite: idOf('o convite') }),
})

/** Takes an invitation back; ours. */
export const withdrawInvitation = route({
  method: 'POST',
  path: '/v1/api/Equipe/convites/cancelar',
  atLeast: 'administrador',
  summary: 'Cancela um convite: o link deixa de valer.',
  refusals: [404],
  body: z.object({ idConvite: idOf('o convite') }),
})

/** Changes the rights of a member; ours. */
export const changeMember = route({
  method: 'PUT',
  path: '/v1/api/Equipe/pessoas',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Muda o que uma pessoa pode: o papel, as empresas e até quando. Vale na hora.',
  refusals: [404, 409],
  body: MemberForm,
})

/** Removes a member; ours. */
export const removeMember = route({
  method: 'POST',
  path: '/v1/api/Equipe/pessoas/remover',
  atLeast: 'administrador',
  proof: 'always',
  summary: 'Tira uma pessoa do workspace e encerra as sessões dela na hora.',
  refusals: [404, 409],
  body: z.object({ idPessoa: idOf('a pessoa') }),
})

/** Leaves the workspace; an account without another workspace is deleted. Ours. */
export const leaveWorkspace = route({
  method: 'POST',
  path: '/v1/api/Equipe/sair',
  atLeast: 'pessoa',
  proof: 'always',
  summary: 'Tira do workspace a pessoa que chama. Se ela não está em nenhum outro, a conta dela é apagada.',
  refusals: [409],
})

/** The workspaces of the person, by name; ours. */
export const listWorkspaces = route({
  method: 'GET',
  path: '/v1/api/Auth/workspaces',
  atLeast: 'pessoa',
  summary: 'Os workspaces em que a pessoa desta sessão entra.',
  data: z.array(
    z.object({
      wsId: z.string(),
      nome: z.string(),
      papel: z.enum(memberRoles),
      acessoAte: z.string().nullable(),
      /** The one of this session. */
      atual: z.boolean(),
    }),
  ),
})

/** Opens a session in another workspace of the person, in the place of this one; ours. */
export const switchWorkspace = route({
  method: 'POST',
  path: '/v1/api/Auth/workspace',
  atLeast: 'pessoa',
  summary: 'Troca esta sessão por uma em outro workspace da pessoa; o próximo login leva a ele.',
  refusals: [404, 409],
  body: z.object({ wsId: idOf('o workspace') }),
  data: z.object({ token: z.string(), wsId: z.string() }),
})

/** Returns an invitation to the holder of its link; ours. */
export const getInvitation = route({
  method: 'GET',
  path: '/v1/api/Convites/{token}',
  access: 'public',
  summary: 'Um convite, para quem tem o link da mensagem.',
  refusals: [404, 410, 429],
  params: z.object({ token: z.string() }),
  data: z.object({
    workspace: z.string(),
    convidadoPor: z.string().nullable(),
    email: z.string(),
    papel: z.enum(memberRoles),
    validoAte: z.string(),
    /** The e-mail has an account, which must log in to accept; otherwise one is created. */
    temConta: z.boolean(),
  }),
})

/** Accepts an invitation by making an account; ours. */
export const acceptInvitation = route({
  method: 'POST',
  path: '/v1/api/Convites/aceitar',
  access: 'public',
  summary: 'Aceita um convite criando a conta do e-mail convidado; quem já tem conta usa `Convites/entrar`.',
  refusals: [404, 409, 410, 429],
  body: AcceptInvitationForm,
})

/** Accepts an invitation with the account of the session, and opens a session there; ours. */
export const joinWorkspace = route({
  method: 'POST',
  path: '/v1/api/Convites/entrar',
  atLeast: 'pessoa',
  summary: 'Aceita um convite com a conta desta sessão, que passa a ser no workspace do convite.',
  refusals: [404, 409, 410, 429],
  body: z.object({ convite: idOf('o convite') }),
  data: z.object({ token: z.string(), wsId: z.string() }),
})
