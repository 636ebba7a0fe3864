import type { ChangeKind } from '../../documents/changes.ts'
import type { Context } from '../../platform/context.ts'

/** A change of a document, with what the reader needs to fetch it. */
export interface Change {
  version: number
  kind: ChangeKind
  at: Date
  documentId: bigint
  chave: string
  type: number
  companyId: number
  companyPublicId: string
  /** Of `answered`. */
  answer: { tpEvento: number; state: 'registered' | 'rejected' | 'unconfirmed'; message: string } | null
}

const kindNames = {
  new: 'documento-novo',
  completed: 'xml-completo',
  standing: 'situacao',
  cancelled: 'cancelamento',
  answered: 'resposta',
} as const satisfies Record<ChangeKind, string>

const situations = { registered: 'registrada', rejected: 'recusada', unconfirmed: 'sem-confirmacao' } as const

/** A change as other programs get it. */
export function wireOf({ ids }: Pick<Context, 'ids'>, workspaceId: number, change: Change) {
  const { version, kind, at, documentId, chave, type, companyPublicId, answer } = change
  return {
    versao: version,
    tipo: kindNames[kind],
    quando: at.toISOString(),
    idDfe: ids.encode(workspaceId, documentId),
    chave,
    tipoDFe: type,
    idEmpresa: companyPublicId,
    resposta: answer && {
      tpEvento: answer.tpEvento,
      situacao: situations[answer.state],
      mensagem: answer.message,
    },
  }
}
