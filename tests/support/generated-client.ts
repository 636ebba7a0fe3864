import { execFile } from 'node:child_process'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { generateApi } from 'swagger-typescript-api'

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
const run = promisify(execFile)

// Code that a client's author writes from the description alone. An expected type error that does
// not occur fails the compilation, too.
const calls = `
import { Api, type Falha } from './client.js'

const [baseUrl = '', email = '', senha = ''] = process.argv.slice(2)
const api = new Api<string>({
  baseUrl,
  securityWorker: (token) => (token ? { headers: { authorization: \`Bearer \${token}\` } } : {}),
})
const refused = async (call: Promise<unknown>): Promise<Falha & { retryAfter: string | null }> => {
  try {
    await call
  } catch (thrown) {
    const { error, headers } = thrown as { error: Falha; headers: Headers }
    return { ...error, retryAfter: headers.get('retry-after') }
  }
  throw new Error('was not refused')
}

const signUp = await api.v1.postUsuarios({ nome: 'Gerada', email: 'gerada@exemplo.com.br', senha: 'segredo1', celular: '11912345678', tipoPlano: 1 })
const unknown = await refused(api.v1.getEmpresasObterEmpresas())
const login = await api.v1.postAuth({ email, senha })
api.setSecurityData(login.data.data.token)
const companies = await api.v1.getEmpresasObterEmpresas()
const company = companies.data.data[0]!
const list = await api.v1.getDocumentosFiscais({ TipoDFe: 0, IdEmpresa: company.id, PaginaAtual: 1, Ordem: 'valor', Sentido: 'desc' })
const complete = list.data.data.items.find(({ notaCompleta }) => notaCompleta)!
const { documento, secoes, historico } = (await api.v1.getDocumentosFiscaisDetalhes(complete.idDfe)).data.data
const due: string | null = documento.prazo?.ate ?? null
const xml = await api.v1.getDocumentosFiscaisXml(complete.idDfe)
const pdf = await api.v1.getDocumentosFiscaisDanfe(complete.idDfe)
const notACertificate = await refused(api.v1.postEmpresas({ Certificado: new File(['x'], 'a.pfx'), Senha: 'segredo' }))
const nowhere = await refused(api.v1.getDocumentosFiscaisXml('x', { format: 'json' }))
const link = await api.v1.postAuditoriaExportar()
const csv = await api.v1.getAuditoriaExportacao(link.data.data.endereco.split('/').at(-1)!)
const ofNoKind = await refused(
  // @ts-expect-error The description names the kinds of documents.
  api.v1.getDocumentosFiscais({ TipoDFe: 1 }),
)
// @ts-expect-error It says what a sign-up needs.
const without = await refused(api.v1.postUsuarios({ email: 'outra@exemplo.com.br' }))

console.log(JSON.stringify({
  signUp: signUp.data.success satisfies true,
  errors: login.data.errors satisfies string[],
  company: company.razaoSocial,
  listed: list.data.data.totalDeItens! > 0 && documento.idDfe === complete.idDfe && secoes.length > 0 && Array.isArray(historico),
  due: due === null || typeof due === 'string',
  xml: (await xml.text()).includes(complete.chave),
  pdf: (await pdf.text()).slice(0, 5),
  csv: (await csv.text()).slice(0, 10),
  refusals: [unknown, notACertificate, nowhere, ofNoKind, without].map(({ success, statusCode, errors }) => [success, statusCode, errors.length > 0]),
}))
`

/** Results of calls to the product at `url` by a client generated from the description, as `account`. */
export async function callGenerated(
  description: object,
  url: string,
  account: { email: string; senha: string },
): Promise<unknown> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'vigia-client-'))
  const generated = await generateApi({ spec: description, output: false, silent: true })
  const options = {
    target: 'es2024',
    module: 'nodenext',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [join(modules, '@types')],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
  }
  const files = {
    'client.ts': generated.files[0]!.fileContent.replace('// @ts-nocheck', ''),
    'calls.ts': calls,
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions: options }),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text)
  try {
    await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', folder.path])
  } catch (error) {
    throw new Error(`the generated client does not fit:\n${(error as { stdout: string }).stdout}`)
  }
  const { stdout } = await run(process.execPath, [
    join(folder.path, 'calls.js'),
    url.replace(/\/$/, ''),
    account.email,
    account.senha,
  ])
  return JSON.parse(stdout)
}
