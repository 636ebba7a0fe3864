import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseCnpj, parseCpf } from '@vigia/dfe/cnpj'
import { ufBySigla } from '@vigia/dfe/uf'
import type { Holder } from './certificates.ts'
import type { SimulatorOptions } from './start.ts'

export type Command =
  | { name: 'serve'; options: SimulatorOptions; exitWithParent: boolean }
  | { name: 'certificate'; directory: string; out: string; holder: Holder & { senha: string; legacy: boolean } }
  | { name: 'help' }

/** A command line that cannot be obeyed; the message is for the person who typed it. */
export class CommandError extends Error {
  override name = 'CommandError'
}

export const help = `Simulador dos serviços de distribuição da autoridade tributária.

  npm run simulator                                    inicia o simulador
    --port 8443            porta (0: qualquer uma livre)
    --directory PASTA      autoridade certificadora e estado (padrão: $DATA_DIR/simulator ou ./data/simulator)
    --archive PASTA        arquivos XML a distribuir
    --archive-answered     os destinatários do arquivo já deram Ciência em outro sistema
    --hour-ms 3600000      duração da hora da autoridade
    --seed N               semente dos documentos gerados
    --company CNPJ:NOME:UF empresa que recebe documentos gerados (pode repetir)
    --live-every-ms 0      intervalo entre documentos novos (0: nenhum)
    --tp-amb 2             ambiente atendido
    --exit-with-parent     termina quando a entrada padrão fecha

  npm run simulator -- certificate --cnpj 12ABC34501DE35 --nome "EMPRESA EXEMPLO LTDA" --senha segredo --out empresa.pfx
    --cpf 52998224725      e-CPF em vez de e-CNPJ
    --uf SP                estado do titular
    --legacy               criptografia antiga (RC2-40 e 3DES), como nos arquivos reais
    --expires 2026-01-31   último dia de validade
    --directory PASTA      o mesmo do simulador`

/** Reads the command line; the environment gives only the default folder. */
export function readCommand(args: string[], env: Record<string, string | undefined>, cwd: string): Command {
  const [first, ...rest] = args
  const named = first !== undefined && !first.startsWith('-')
  const options = named ? rest : args
  const directory = join(env.DATA_DIR ?? join(cwd, 'data'), 'simulator')
  if (args.includes('--help') || first === 'help') return { name: 'help' }
  if (!named || first === 'serve') return readServe(options, directory)
  if (first === 'certificate') return readCertificate(options, directory)
  throw new CommandError(`comando desconhecido: ${first} (use serve ou certificate)`)
}

function readServe(args: string[], defaultDirectory: string): Command {
  const values = parse(args, {
    port: { type: 'string' },
    directory: { type: 'string' },
    archive: { type: 'string' },
    'archive-answered': { type: 'boolean' },
    'hour-ms': { type: 'string' },
    seed: { type: 'string' },
    company: { type: 'string', multiple: true },
    'live-every-ms': { type: 'string' },
    'tp-amb': { type: 'string' },
    'exit-with-parent': { type: 'boolean' },
  })
  const tpAmb = integer(values, 'tp-amb', 2)
  if (tpAmb !== 1 && tpAmb !== 2) throw new CommandError('--tp-amb deve ser 1 ou 2')
  const companies = Array.isArray(values.company) ? values.company.map((one) => readCompany(String(one))) : []
  return {
    name: 'serve',
    exitWithParent: values['exit-with-parent'] === true,
    options: {
      port: integer(values, 'port', 8443),
      directory: text(values, 'directory') ?? defaultDirectory,
      archive: text(values, 'archive'),
      archiveAnswered: values['archive-answered'] === true,
      hourMs: integer(values, 'hour-ms', 3_600_000),
      seed: values.seed === undefined ? undefined : integer(values, 'seed', 0),
      companies,
      liveEveryMs: integer(values, 'live-every-ms', 0),
      tpAmb,
    },
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

function expiry(values: Values): number | undefined {
  const written = text(values, 'expires')
  if (written === undefined) return undefined
  const at = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(written) ? `${written}T23:59:59-03:00` : written)
  if (Number.isNaN(at)) throw new CommandError(`--expires espera uma data como 2026-01-31, não "${written}"`)
  return at
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>

function parse(args: string[], options: Record<string, { type: 'string' | 'boolean'; multiple?: boolean }>): Values {
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error))
  }
}

function text(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function integer(values: Values, name: string, fallback: number): number {
  const written = text(values, name)
  if (written === undefined) return fallback
  if (!/^\d{1,15}$/.test(written)) throw new CommandError(`--${name} espera um número, não "${written}"`)
  return Number(written)
}
