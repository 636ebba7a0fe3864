import type { X509Certificate } from 'node:crypto'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { explainFailure, type SefazError } from '@vigia/sefaz/error'
import type { Context } from '../../platform/context.ts'
import { blockCause } from '../decide.ts'
import type { Told } from '../source.ts'

export interface Finding {
  ok: boolean
  lines: string[]
  certificate?: X509Certificate
}

export function notOf(holder: string, wanted: string): Finding {
  return {
    ok: false,
    lines: [
      `O certificado é de ${formatCnpj(holder)} e não serve para ${formatCnpj(wanted)}: os oito primeiros caracteres do CNPJ não são os mesmos.`,
      'Nada foi enviado. Use o certificado da empresa, ou o da matriz dela.',
    ],
  }
}

/** The common name in the subject or issuer of a certificate, else all of it in one line. */
export function commonName(name: string): string {
  return /^CN=(.*)$/m.exec(name)?.[1] ?? name.replaceAll('\n', ', ')
}

export function describeCertificate(certificate: X509Certificate): string[] {
  return [
    `Certificado: ${commonName(certificate.subject)}`,
    `  emitido por ${commonName(certificate.issuer)}, válido de ${formatBrasiliaMoment(certificate.validFromDate)} até ${formatBrasiliaMoment(certificate.validToDate)}`,
  ]
}

export function describeAnswer(answer: Told, hasReceived: boolean): Finding {
  const said = [
    'Servidor: identidade confirmada, certificado aceito na conexão.',
    `Resposta da SEFAZ: ${answer.code} (${answer.words})`,
  ]
  const found = (ok: boolean, meaning: string, todo: string) => ({
    ok,
    lines: [...said, `Significa: ${meaning}`, `O que fazer: ${todo}`],
  })
  if (answer.kind === 'page' || answer.kind === 'end' || (answer.kind === 'absent' && answer.forever))
    return found(true, 'a SEFAZ atende as consultas deste CNPJ.', 'nada.')
  if (answer.kind === 'absent' && !hasReceived)
    return found(
      true,
      'a SEFAZ atende as consultas deste CNPJ e ainda não tem documentos para ele. Ela começa a guardá-los a partir da primeira consulta da captura.',
      'nada.',
    )
  if (answer.kind === 'pause' && answer.whom === 'line')
    return found(
      false,
      `as consultas deste CNPJ estão bloqueadas por uma hora: ${blockCause({ lossBefore: false, mayBeCopy: false })}.`,
      'nada agora: cada consulta durante o bloqueio recomeça a hora. Descubra que outro programa usa este certificado.',
    )
  if (answer.kind === 'pause')
    return found(false, 'o serviço está fora do ar para todos.', 'nada: a captura volta sozinha.')
  return found(
    false,
    answer.why,
    'corrija o que a resposta diz; se o certificado for outro, envie-o na página da empresa.',
  )
}

export function describeFailure(
  error: SefazError,
  { ambiente }: Pick<Context['config']['sefaz'], 'ambiente'>,
): Finding {
  const { happened, todo } = explainFailure(error.kind, error.detail)!
  const isSimulatorAway = ambiente === 'simulado' && error.detail === 'ECONNREFUSED'
  return {
    ok: false,
    lines: [
      `${happened[0]!.toUpperCase()}${happened.slice(1)}.`,
      `O que fazer: ${isSimulatorAway ? 'inicie o programa inteiro (npm start) ou o simulador (npm run simulator).' : todo}`,
      ...(error.detail ? [`Detalhe técnico: ${error.detail}`] : []),
    ],
  }
}
