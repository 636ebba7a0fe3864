import { readFile } from 'node:fs/promises'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { unzipDocument } from '@vigia/sefaz/distribution'
import type { CorpusDocZip } from './corpus.ts'

interface Template {
  schema: string
  xml: string
}

const templateOwner = '44555666000181'

/** NF-e of the generated corpus, whole ones and summaries, to be made anew for others. */
export async function readTemplates(corpora: Record<string, string>): Promise<Template[]> {
  return (JSON.parse(await readFile(corpora.generated!, 'utf8')) as CorpusDocZip[])
    .filter(({ service, schema }) => service === 'nfe' && /^(procNFe|resNFe)/.test(schema))
    .map(({ schema, base64 }) => ({ schema, xml: unzipDocument(Buffer.from(base64, 'base64')).toString() }))
}

/** Has the simulator at `port` hold a template for another destinatário and under another chave, which is returned; nobody verifies its signature here. */
export async function publish(port: number, cnpj: string, { schema, xml }: Template, number: number): Promise<string> {
  const old = /<ch(?:NFe)>([0-9A-Z]{44})</.exec(xml)![1]!
  const body = old.slice(0, 25) + String(number).padStart(9, '0') + old.slice(34, 43)
  const chave = `${body}${chaveCheckDigit(body)}`
  const own = xml.replaceAll(templateOwner, cnpj).replaceAll(old, chave)
  const response = await fetch(`http://127.0.0.1:${port}/_control/publish`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ cnpj, service: 'nfe', schema, xmlBase64: Buffer.from(own).toString('base64') }),
  })
  if (!response.ok) throw new Error(await response.text())
  return chave
}
