import { status } from '@vigia/dfe/families/statuses'
import type { Proof } from '@vigia/dfe/proof'

const provedWithoutProtocol =
  'A assinatura digital e a chave de acesso conferem, mas esta cópia não traz o protocolo de autorização.'

export function proofSentence(proof: Proof, baseStatus: number): string {
  return proof === 'proved' && baseStatus === status.noProtocol ? provedWithoutProtocol : proofSentences[proof]
}

const proofSentences: Record<Proof, string> = {
  proved: 'A assinatura digital, o protocolo e a chave de acesso conferem.',
  altered: 'A assinatura digital não confere: o conteúdo foi alterado depois de assinado.',
  signature: 'A assinatura digital não confere: ela não foi feita com o certificado que a acompanha.',
  form: 'A assinatura digital não confere: ela não tem a forma que a SEFAZ aceita.',
  unsigned: 'O documento não traz assinatura digital.',
  protocol: 'O protocolo de autorização não confere: ele é de outro conteúdo ou de outra chave de acesso.',
  chave: 'A chave de acesso não confere com os dados do documento.',
  hidden: 'Nesta cópia a SEFAZ oculta dados que foram assinados: a assinatura digital não pode ser conferida.',
}

export const eventProofSentences: Record<Proof, string> = {
  ...proofSentences,
  proved: 'A assinatura digital e o registro do evento conferem.',
  unsigned: 'O evento não traz assinatura digital.',
  protocol: 'O registro da SEFAZ não confere: ele é de outro evento.',
  chave: 'A identificação do evento não confere com os dados dele.',
}

export function holds(proof: Proof): boolean | null {
  return proof === 'hidden' ? null : proof === 'proved'
}

/** Why a document is not to be trusted, as a sentence; undefined when nothing was found. */
export function doubtOf(proof: Proof | null): string | undefined {
  return proof && holds(proof) === false ? proofSentences[proof] : undefined
}
