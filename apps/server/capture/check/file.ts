import { X509Certificate } from 'node:crypto'
import { cnpjBase, formatCnpj } from '@vigia/dfe/cnpj'
import { CertificateError, readCertificate } from '@vigia/sefaz/certificate'
import { findChain } from '@vigia/sefaz/chain'
import { connect } from '@vigia/sefaz/connection'
import { SefazError } from '@vigia/sefaz/error'
import { readAuthorities, readHolderAuthorities } from '../../companies/authorities.ts'
import type { Config } from '../../config.ts'
import type { CheckReport } from './check.ts'
import { commonName, describeCertificate, describeFailure, notOf } from './check-texts.ts'

/** Shows a certificate once to each host of the distribution, without a query. `wanted`: the CNPJ that it is to serve. */
export async function examineFile(
  config: Pick<Config, 'sefaz'>,
  file: Uint8Array,
  password: string,
  { wanted }: { wanted?: string } = {},
): Promise<CheckReport> {
  const ca = await readAuthorities(config)
  const opened = await readCertificate(file, password, { cnpj: wanted }).catch((error: unknown) => {
    if (error instanceof CertificateError) return error
    throw error
  })
  if (opened instanceof CertificateError)
    return { ok: false, lines: ['O certificado não pode ser usado. Nada foi enviado.', opened.message] }
  if (wanted && cnpjBase(wanted) !== cnpjBase(opened.cnpj)) return notOf(opened.cnpj, wanted)
  const lines = [
    ...describeCertificate(new X509Certificate(opened.certificate)),
    `  CNPJ ${formatCnpj(opened.cnpj)}, ambiente ${config.sefaz.ambiente}`,
    `  ${describeChain(opened, await readHolderAuthorities(config))}`,
  ]
  const connection = connect(opened, { ca, timeoutMs: config.sefaz.answerMs })
  let ok = true
  try {
    const urls = Object.values(config.sefaz.endpoints.distribution)
    for (const url of new Map(urls.map((url) => [new URL(url).host, url])).values()) {
      const found = await show(connection, url, config)
      ok &&= found.ok
      lines.push('', new URL(url).host, ...found.lines.map((line) => `  ${line}`))
    }
  } finally {
    connection.close()
  }
  return { ok, lines }
}

function describeChain({ certificate, chain }: { certificate: string; chain: string[] }, roots: string[]): string {
  const reached = findChain({ certificate, chain }, roots)
  if (reached) return `Cadeia completa, até ${commonName(reached.at(-1)!.subject)}.`
  return chain.length === 0
    ? 'O arquivo não traz as autoridades intermediárias, e a SEFAZ pode recusá-lo: exporte-o de novo com a opção de incluir todos os certificados da cadeia.'
    : 'A autoridade que emitiu este certificado não é conhecida aqui: a captura começa só depois que a SEFAZ o aceitar.'
}

async function show(
  connection: ReturnType<typeof connect>,
  url: string,
  config: Pick<Config, 'sefaz'>,
): Promise<CheckReport> {
  try {
    const { status } = await connection.get(url)
    if (status === 403) throw new SefazError('forbidden', { status })
    return {
      ok: true,
      lines: [
        `Servidor: identidade confirmada, certificado aceito na conexão (HTTP ${status}). Nenhuma consulta foi feita.`,
      ],
    }
  } catch (error) {
    if (!(error instanceof SefazError)) throw error
    return describeFailure(error, config.sefaz)
  }
}
