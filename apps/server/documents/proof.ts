import type { Proof } from '@vigia/sefaz/proof'

/** What a proof says, for people. */
export const proofSentences: Record<Proof, string> = {
  proved: 'A assinatura digital, o protocolo e a chave de acesso conferem.',
  altered: 'A assinatura digital não confere: o conteúdo foi alterado depois de assinado.',
  signature: 'A assinatura digital não confere: ela não foi feita com o certificado que a acompanha.',
  form: 'A assinatura digital não confere: ela não tem a forma que a SEFAZ aceita.',
  unsigned: 'O documento não traz assinatura digital.',
  protocol: 'O protocolo de autorização não confere: ele é de outro conteúdo ou de outra chave de acesso.',
  chave: 'A chave de acesso não confere com os dados do documento.',
}

/** Why a document is not to be trusted, as a sentence; undefined when nothing was found. */
export function doubtOf(proof: Proof | null): string | undefined {
  return proof && proof !== 'proved' ? proofSentences[proof] : undefined
}
