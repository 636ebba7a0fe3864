import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseCnpj, parseCpf } from '@vigia/dfe/cnpj'
import { ufBySigla } from '@vigia/dfe/uf'
import type { CertificateSubject } from './certificates.ts'
import { parseInstant } from './clock.ts'
import type { SimulatorOptions } from './start.ts'

export type Command =
  | { name: 'serve'; options: SimulatorOptions; exitWithParent: boolean }
  | {
      name: 'certificate'
      directory: string
      out: string
      holder: CertificateSubject & { senha: string; legacy: boolean }
    }
  | { name: 'help' }

/** A command line that cannot be obeyed; the message is for the person who typed it. */
export class CommandError extends Error {
  override name = 'CommandError'
}

// Defaults for `npm start -- worker` in the ambiente "simulado": .env.example, one-minute hour.
const defaults = { port: '3443', directory: './data', hourMs: 60_000 }

export const help = `Simulador da autoridade tributária: distribuição de documentos e recepção de eventos.

  npm run simulator                                    inicia o simulador que npm start -- worker procura
    --port ${defaults.port}            porta (0: qualquer uma livre; padrão: SIMULATOR_PORT)
    --directory PASTA      autoridade certificadora e estado (padrão: subpasta simulator de DATA_DIR ou de ${defaults.directory})
    --archive PASTA        arquivos XML a distribuir (padrão: SIMULATOR_ARCHIVE)
    --archive-answered     os destinatários do arquivo já deram Ciência em outro sistema (padrão: SIMULATOR_ARCHIVE_ANSWERED)
    --hour-ms ${defaults.hourMs}        duração da hora da autoridade
    --response-ms 0        tempo que cada resposta leva
    --xml-delay-ms 0       tempo entre a Ciência e o XML completo
    --seed N               semente dos documentos gerados
    --story                o comércio de um escritório com quatro clientes (pasta story)
    --company CNPJ:NOME:UF empresa que recebe documentos gerados (pode repetir)
    --since 2026-07-01     início dos documentos gerados (padrão: o mês corrente e, no começo dele, o fim do anterior)
    --documents-each N     cerca de N documentos e eventos por empresa em vez dos do período
    --live-every-ms 0      intervalo entre documentos novos (0: nenhum)
    --tp-amb 1             ambiente atendido
    --trust ARQUIVO        outros certificados aceitos, em PEM (pode repetir)
    --exit-with-parent     termina quando a entrada padrão fecha

  npm run simulator -- certificate --cnpj 12ABC34501DE35 --nome "EMPRESA EXEMPLO LTDA" --senha segredo --out empresa.pfx
    --cpf 52998224725      e-CPF em vez de e-CNPJ
    --uf SP                estado do titular
    --legacy               criptografia antiga (RC2-40 e 3DES), como nos arquivos reais
    --expires 2026-01-31   último dia de validade
    --directory PASTA      o mesmo do simulador`

type Variables = Record<string, string | undefined>

/** Parses the command line; defaults come from the product's environment variables. */
export function readCommand(args: string[], environment: Variables, cwd: string): Command {
  const [first, ...rest] = args
  const named = first !== undefined && !first.startsWith('-')
  const options = named ? rest : args
  // A line "NAME=" of a .env file means: not set.
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()))
  const directory = resolve(cwd, env.DATA_DIR ?? defaults.directory, 'simulator')
  if (args.includes('--help') || first === 'help') return { name: 'help' }
  if (!named || first === 'serve') return readServe(options, env, cwd, directory)
  if (first === 'certificate') return readCertificate(options, directory)
  throw new CommandError(`comando desconhecido: ${first} (use serve ou certificate)`)
}

function readServe(args: string[], env: Variables, cwd: string, defaultDirectory: string): Command {
  const values = parse(args, {
    port: { type: 'string' },
    directory: { type: 'string' },
    archive: { type: 'string' },
    'archive-answered': { type: 'boolean' },
    'hour-ms': { type: 'string' },
    'response-ms': { type: 'string' },
    'xml-delay-ms': { type: 'string' },
    seed: { type: 'string' },
    story: { type: 'boolean' },
    company: { type: 'string', multiple: true },
    since: { type: 'string' },
    'documents-each': { type: 'string' },
    'live-every-ms': { type: 'string' },
    'tp-amb': { type: 'string' },
    trust: { type: 'string', multiple: true },
    'exit-with-parent': { type: 'boolean' },
  })
  const tpAmb = integer(values, 'tp-amb', 1)
  if (tpAmb !== 1 && tpAmb !== 2) throw new CommandError('--tp-amb deve ser 1 ou 2')
  const companies = Array.isArray(values.company) ? values.company.map((one) => readCompany(String(one))) : []
  const archive = text(values, 'archive') ?? env.SIMULATOR_ARCHIVE
  const since = text(values, 'since')
  if (since !== undefined && parseInstant(since) === undefined)
    throw new CommandError(`--since espera uma data como 2026-01-31, não "${since}"`)
  return {
    name: 'serve',
    exitWithParent: values['exit-with-parent'] === true,
    options: {
      port: integer(values, 'port', wholeNumber(env.SIMULATOR_PORT ?? defaults.port, 'SIMULATOR_PORT')),
      directory: text(values, 'directory') ?? defaultDirectory,
      archive: archive && resolve(cwd, archive),
      archiveAnswered:
        values['archive-answered'] === true || ['true', '1'].includes(env.SIMULATOR_ARCHIVE_ANSWERED ?? ''),
      hourMs: integer(values, 'hour-ms', defaults.hourMs),
      responseMs: integer(values, 'response-ms', 0),
      xmlDelayMs: integer(values, 'xml-delay-ms', 0),
      seed: values.seed === undefined ? undefined : integer(values, 'seed', 0),
      story: values.story === true,
      companies,
      since,
      documentsEach: values['documents-each'] === undefined ? undefined : integer(values, 'documents-each', 0),
      liveEveryMs: integer(values, 'live-every-ms', 0),
      tpAmb,
      trust: Array.isArray(values.trust) ? values.trust.map((file) => readPem(resolve(cwd, String(file)))) : undefined,
    },
  }
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new CommandError(`--trust: não foi possível ler ${file}`)
  }
}

function readCompany(written: string): { cnpj: string; nome: string; uf: string } {
  const [cnpjText = '', nome = '', ufText = ''] = written.split(':')
  const cnpj = parseCnpj(cnpjText)
  const uf = ufBySigla(ufText)
  if (cnpj === null || nome.trim() === '' || uf === undefined) {
    throw new CommandError(`--company espera CNPJ:NOME:UF, não "${written}"`)
  }
  return { cnpj, nome: nome.trim(), uf: uf.uf }
}

function readCertificate(args: string[], defaultDirectory: string): Command {
  const values = parse(args, {
    cnpj: { type: 'string' },
    cpf: { type: 'string' },
    nome: { type: 'string' },
    uf: { type: 'string' },
    senha: { type: 'string' },
    out: { type: 'string' },
    legacy: { type: 'boolean' },
    expires: { type: 'string' },
    directory: { type: 'string' },
  })
  const [cnpjText, cpfText] = [text(values, 'cnpj'), text(values, 'cpf')]
  if ((cnpjText === undefined) === (cpfText === undefined)) throw new CommandError('informe --cnpj ou --cpf')
  const cnpj = cnpjText === undefined ? undefined : parseCnpj(cnpjText)
  const cpf = cpfText === undefined ? undefined : parseCpf(cpfText)
  if (cnpj === null) throw new CommandError(`CNPJ inválido: ${cnpjText}`)
  if (cpf === null) throw new CommandError(`CPF inválido: ${cpfText}`)
  const [nome, senha, out] = [text(values, 'nome'), text(values, 'senha'), text(values, 'out')]
  if (nome === undefined || senha === undefined || out === undefined) {
    throw new CommandError('informe --nome, --senha e --out')
  }
  return {
    name: 'certificate',
    directory: text(values, 'directory') ?? defaultDirectory,
    out,
    holder: { cnpj, cpf, nome, senha, uf: text(values, 'uf'), legacy: values.legacy === true, expires: expiry(values) },
  }
}

function expiry(values: ParsedValues): number | undefined {
  const written = text(values, 'expires')
  if (written === undefined) return undefined
  const at = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(written) ? `${written}T23:59:59-03:00` : written)
  if (Number.isNaN(at)) throw new CommandError(`--expires espera uma data como 2026-01-31, não "${written}"`)
  return at
}

type ParsedValues = Record<string, string | boolean | (string | boolean)[] | undefined>

function parse(
  args: string[],
  options: Record<string, { type: 'string' | 'boolean'; multiple?: boolean }>,
): ParsedValues {
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error))
  }
}

function text(values: ParsedValues, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function integer(values: ParsedValues, name: string, fallback: number): number {
  const written = text(values, name)
  return written === undefined ? fallback : wholeNumber(written, `--${name}`)
}

function wholeNumber(written: string, name: string): number {
  if (!/^\d{1,15}$/.test(written)) throw new CommandError(`${name} espera um número, não "${written}"`)
  return Number(written)
}
