import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { parseCnpj } from '@vigia/dfe/cnpj'
import {
  checkCompany,
  checkFile,
  describeHosts,
  examineFile,
  examineHosts,
  fetchAuthorities,
  findCompleteness,
  operate,
} from '@vigia/server/start'
import { configure, explain } from './launch.ts'
import { live, StartError } from './lifetime.ts'

const help = `Conversas com a SEFAZ, para quem cuida do servidor. Funciona com o programa rodando ou parado, no mesmo computador e com
as mesmas variáveis (DATA_DIR ou DATABASE_URL).

  npm run sefaz -- hosts
  npm run sefaz -- autoridades
  npm run sefaz -- check empresa.pfx --senha SENHA [--cnpj 12ABC34501DE35] [--consulta]
  npm run sefaz -- check --cnpj 12ABC34501DE35
  npm run sefaz -- completeness --cnpj 12ABC34501DE35
  npm run sefaz -- --help

hosts
  Abre uma conexão segura com cada servidor da SEFAZ deste ambiente, sem certificado e sem consulta, e mostra a cadeia, o
  protocolo, a validade, a diferença de relógio e, para cada falha, o que fazer. Termina com o código 0 se todos estão bem.

autoridades
  Busca as autoridades da ICP-Brasil que faltam e as intermediárias que um servidor não mostra, e guarda em
  DATA_DIR/authorities só o que confere com o SHA-256 deste programa ou leva a uma raiz já conhecida. Reinicie depois.

check
  Com um arquivo: confere certificado, cadeia, CNPJ e validade e mostra o certificado uma vez a cada servidor, sem consulta
  e sem cadastro. Com --consulta, ou só com --cnpj (empresa cadastrada), faz uma consulta inofensiva a cada serviço (NF-e e
  CT-e) e explica a resposta. Ela gasta uma das vinte consultas avulsas que a SEFAZ permite por hora a cada CNPJ e serviço;
  de uma empresa cadastrada, nada é perguntado além delas nem durante um bloqueio. --cnpj ao lado do arquivo indica uma filial.
  Termina com o código 0 quando está tudo bem, senão com 1.

completeness
  Mostra, nos últimos treze meses, as posições (NSU) recebidas, as que faltaram, por quê, e o que foi feito delas.`

await live(async () => {
  const [command, ...rest] = process.argv.slice(2)
  if (command === '--help') return console.log(help)
  if (command === 'hosts') return hosts()
  if (command === 'autoridades') return tell(await fetchAuthorities(configure()))
  if (command === 'check') return check(read(rest))
  if (command === 'completeness') return completeness(read(rest))
  throw new StartError(
    'Use: npm run sefaz -- hosts, autoridades, check ou completeness. O que fazem: npm run sefaz -- --help.',
  )
})

interface Options {
  cnpj?: string
  file?: string
  senha?: string
  consulta?: boolean
}

function read(args: string[]): Options {
  let values: Options
  try {
    const options = { cnpj: { type: 'string' }, senha: { type: 'string' }, consulta: { type: 'boolean' } } as const
    const parsed = parseArgs({ args, options, allowPositionals: true })
    values = { ...parsed.values, file: parsed.positionals[0] }
  } catch (error) {
    throw new StartError(`${(error as Error).message}. Ajuda: npm run sefaz -- --help.`)
  }
  if (values.cnpj === undefined) return values
  const cnpj = parseCnpj(values.cnpj)
  if (cnpj === null) throw new StartError(`${values.cnpj} não é um CNPJ válido.`)
  return { ...values, cnpj }
}

async function hosts(): Promise<void> {
  const found = await examineHosts(configure())
  tell({ ok: found.every(({ ok }) => ok), lines: describeHosts(found) })
}

function tell({ ok, lines }: { ok: boolean; lines: string[] }): void {
  console.log(lines.join('\n'))
  if (!ok) throw new StartError('A conferência encontrou um problema.')
}

async function check({ cnpj, file, senha, consulta }: Options): Promise<void> {
  if (file === undefined && cnpj === undefined) throw new StartError('Informe o arquivo e --senha, ou --cnpj.')
  if (file === undefined) return tell(await beside((ctx) => checkCompany(ctx, cnpj ?? '')))
  if (senha === undefined) throw new StartError('Informe a senha do certificado em --senha.')
  const bytes = await readPfx(file)
  tell(
    consulta
      ? await beside((ctx) => checkFile(ctx, bytes, senha, cnpj))
      : await examineFile(configure(), bytes, senha, { wanted: cnpj }),
  )
}

async function readPfx(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new StartError(`O arquivo ${path} não pôde ser lido (${(cause as NodeJS.ErrnoException).code}).`, { cause })
  }
}

async function completeness({ cnpj }: Options): Promise<void> {
  if (cnpj === undefined) throw new StartError('Informe --cnpj.')
  const found = await beside((ctx) => findCompleteness(ctx, cnpj))
  if (found.length === 0) throw new StartError('Nenhuma empresa com este CNPJ está cadastrada aqui.')
  for (const { service, months } of found) {
    console.log(
      `${service === 'nfe' ? 'NF-e' : 'CT-e'}${months.length === 0 ? ': nenhuma consulta foi feita ainda.' : ''}`,
    )
    for (const month of months) console.log(describeMonth(month).join('\n'))
    console.log()
  }
}

type ReportedMonth = Awaited<ReturnType<typeof findCompleteness>>[number]['months'][number]

const dateTime = new Intl.DateTimeFormat('pt-BR', {
  dateStyle: 'short',
  timeStyle: 'short',
  timeZone: 'America/Sao_Paulo',
})

const count = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`

function describeMonth({ month, from, to, documents, passedOver, queries, unanswered, gaps }: ReportedMonth): string[] {
  const positions = from === null ? 'nenhuma posição' : `posições ${from} a ${to}`
  const lines = [
    `  ${month}: ${positions}, ${count(documents, 'documento')}, ${count(queries, 'consulta')}, ${unanswered} sem resposta`,
    ...(passedOver > 0
      ? [`    ${passedOver} posições a própria SEFAZ passou sem documento (vencidas ou de ninguém)`]
      : []),
  ]
  for (const gap of gaps) {
    lines.push(
      `    faltaram ${gap.from} a ${gap.to}, desde ${dateTime.format(gap.foundAt).replace(', ', ' às ')}: ${gap.why}`,
      `      ${gap.fetched} buscadas depois, ${gap.lost} que a SEFAZ não tem mais, ${gap.missing} ainda faltam`,
    )
  }
  return lines
}

async function beside<T>(work: Parameters<typeof operate<T>>[1]): Promise<T> {
  const config = configure()
  return operate(config, work).catch((error: unknown) => {
    throw explain(error, config)
  })
}
