import type { X509Certificate } from 'node:crypto'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import type { DistributionResponse } from '@vigia/sefaz/distribution'
import type { SefazError } from '@vigia/sefaz/error'
import type { Context } from '../../platform/context.ts'
import { blockCause, closedForHours, explainCode } from '../rules.ts'

/** What was found out about one service, for the operator. */
export interface Finding {
  ok: boolean
  lines: string[]
  /** The certificate that was shown. */
  certificate?: X509Certificate
}

/** Why no query left; `{at}` stands for `when`. */
export function notAsked(title: string, lines: string[], when?: Date): Finding {
  const text = (line: string) => (when ? line.replace('{at}', formatBrasiliaMoment(when)) : line)
  return { ok: false, lines: [title, ...lines.map(text)] }
}

/** The holder of a certificate and how long it is valid. */
export function describeCertificate(certificate: X509Certificate): string[] {
  const name = /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? certificate.subject
  const issuer = /^CN=(.*)$/m.exec(certificate.issuer)?.[1] ?? certificate.issuer
  return [
    `Certificado: ${name}`,
    `  emitido por ${issuer}, válido de ${formatBrasiliaMoment(certificate.validFromDate)} até ${formatBrasiliaMoment(certificate.validToDate)}`,
  ]
}

/** What the response to a query for one position means for the access. */
export function describeAnswer(
  { cStat, xMotivo }: Pick<DistributionResponse, 'cStat' | 'xMotivo'>,
  hasReceived: boolean,
): Finding {
  const said = [
    'Servidor: identidade confirmada, certificado aceito na conexão.',
    `Resposta da SEFAZ: ${cStat} (${xMotivo})`,
  ]
  const found = (ok: boolean, meaning: string, todo: string) => ({
    ok,
    lines: [...said, `Significa: ${meaning}`, `O que fazer: ${todo}`],
  })
  if (cStat === 138 || cStat === 137) return found(true, 'a SEFAZ atende as consultas deste CNPJ.', 'nada.')
  if (cStat === 589 && !hasReceived)
    return found(
      true,
      'a SEFAZ atende as consultas deste CNPJ e ainda não tem documentos para ele. Ela começa a guardá-los a partir da primeira consulta da captura.',
      'nada.',
    )
  if (cStat === 656)
    return found(
      false,
      `as consultas deste CNPJ estão bloqueadas por uma hora: ${blockCause({ responseLost: false })}.`,
      'nada agora: cada consulta durante o bloqueio recomeça a hora. Descubra que outro programa usa este certificado.',
    )
  if (closedForHours[cStat] !== undefined || cStat === 999)
    return found(false, 'o serviço está fora do ar para todos.', 'nada: a captura volta sozinha.')
  return found(
    false,
    explainCode(cStat),
    'corrija o que a resposta diz; se o certificado for outro, envie-o na página da empresa.',
  )
}

type Sefaz = Pick<Context['config']['sefaz'], 'ambiente' | 'answerMs'>

/** What it means that no response came, and what to do. */
export function describeFailure(error: SefazError, host: string, sefaz: Sefaz): Finding {
  const [happened, todo] = explain(error, host, sefaz)
  const detail = error.detail ? [`Detalhe técnico: ${error.detail}`] : []
  return { ok: false, lines: [happened, `O que fazer: ${todo}`, ...detail] }
}

function explain(error: SefazError, host: string, { ambiente, answerMs }: Sefaz): [string, string] {
  switch (error.kind) {
    case 'tls-chain':
      return [
        `A identidade de ${host} não pôde ser confirmada: falta aqui a autoridade que assina o certificado do servidor. Nada foi enviado.`,
        'baixe a cadeia da ICP-Brasil (arquivo PEM) e informe o caminho dela em SEFAZ_CA_FILE; depois inicie o programa de novo.',
      ]
    case 'handshake':
      return [
        `${host} recusou a conexão segura com este certificado, antes de ler a consulta.`,
        'confira se o certificado está válido e não foi revogado; se estiver em ordem, exporte-o de novo com a cadeia completa e envie-o.',
      ]
    case 'forbidden':
      return [
        `${host} respondeu com a página "403 Forbidden": o servidor não aceita este certificado, ou ainda não conhece a autoridade que o emitiu.`,
        'confira a validade e a revogação do certificado; se estiver em ordem, tente de novo em meia hora.',
      ]
    case 'timeout':
      return [
        `${host} não respondeu em ${Math.round(answerMs / 1000)} segundos.`,
        'nada, se acontecer uma vez: o serviço está sobrecarregado. Se acontecer sempre, confira se a rede desta máquina deixa sair conexões para a porta 443.',
      ]
    case 'refused':
      return explainRefused(error.detail ?? '', host, ambiente)
    case 'http':
      return [
        `O servidor respondeu com um erro (HTTP ${error.status ?? 'sem código'}) no lugar da resposta.`,
        'nada: a captura tenta de novo sozinha. Se durar mais de um dia, confira se há uma versão nova do programa.',
      ]
    case 'not-xml':
      return [
        'O servidor respondeu, mas não com o que o serviço responde: costuma ser uma página de manutenção ou de um proxy.',
        'nada, se durar pouco. Se durar, confira se a rede desta máquina passa por um proxy.',
      ]
    case 'fault':
      return [
        'O serviço disse que não conseguiu atender a mensagem (SOAP Fault).',
        'nada: a captura tenta de novo sozinha. Se durar mais de um dia, confira se há uma versão nova do programa.',
      ]
  }
}

function explainRefused(detail: string, host: string, ambiente: Sefaz['ambiente']): [string, string] {
  if (/ENOTFOUND|EAI_AGAIN/.test(detail))
    return [
      `O nome ${host} não foi encontrado. Nada foi enviado.`,
      'confira a conexão com a internet e o DNS desta máquina.',
    ]
  if (/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH/.test(detail))
    return [
      `Ninguém atende em ${host}. Nada foi enviado.`,
      ambiente === 'simulado'
        ? 'inicie o programa inteiro (npm start) ou o simulador (npm run simulator).'
        : 'confira a conexão com a internet e se um firewall deixa sair conexões para a porta 443.',
    ]
  return [
    `A conexão com ${host} foi interrompida no meio.`,
    'tente de novo em alguns minutos; se acontecer sempre, confira se um firewall ou proxy interfere.',
  ]
}
