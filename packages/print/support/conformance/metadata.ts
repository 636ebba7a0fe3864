import { openDocument } from '@vigia/dfe/document'
import { type PdfFile, Reference } from '../pdf-file.ts'
import { access, archive } from './clauses.ts'
import { catalogOf, dictionary, textOf } from './entries.ts'

/** Faults in the metadata and in the information dictionary. */
export function metadataFaults(file: PdfFile): string[] {
  const reference = catalogOf(file).get('Metadata')
  const stream = reference instanceof Reference ? file.streams.get(reference.number) : undefined
  if (!stream) return [archive('6.6.2.1', 'the catalog has no metadata'), access('7.1', 'the catalog has no metadata')]
  const faults: string[] = []
  const packet = stream.data.toString('utf8')
  const said = (key: string) => new RegExp(`<${key}>([^<]*)</${key}>`).exec(packet)?.[1]
  if (/<\?xpacket begin=[^?]*(bytes|encoding)=/.test(packet))
    faults.push(archive('6.6.2.1', 'the packet says its bytes or its encoding'))
  const xml = /<x:xmpmeta[\s\S]*<\/x:xmpmeta>/.exec(packet)?.[0]
  try {
    openDocument(Buffer.from(xml ?? ''))
  } catch {
    faults.push(archive('6.6.2.1', 'the metadata is no well-formed XML'))
  }
  if (said('pdfaid:part') !== '2') faults.push(archive('6.6.4', 'the metadata does not say part 2'))
  if (said('pdfaid:conformance') !== 'A') faults.push(archive('6.6.4', 'the metadata does not say level A'))
  if (said('pdfuaid:part') !== '1') faults.push(access('5', 'the metadata does not say part 1'))
  const known = new Set([
    'http://purl.org/dc/elements/1.1/',
    'http://ns.adobe.com/pdf/1.3/',
    'http://ns.adobe.com/xap/1.0/',
  ])
  for (const [, prefix, uri = ''] of packet.matchAll(/xmlns:(\w+)="([^"]*)"/g)) {
    const isOwn = /^(rdf|x|pdfaid|pdfaExtension|pdfaSchema|pdfaProperty)$/.test(prefix!)
    const isDescribed = packet.includes(`<pdfaSchema:namespaceURI>${uri}</pdfaSchema:namespaceURI>`)
    if (!isOwn && !known.has(uri) && !isDescribed)
      faults.push(archive('6.6.2.3', `the properties of ${prefix} are not described`))
  }
  const title = /<dc:title><rdf:Alt><rdf:li xml:lang="x-default">([^<]+)</.exec(packet)?.[1]
  if (!title) faults.push(access('7.1', 'the metadata has no title'))
  const information = dictionary(file, file.trailer.get('Info'))
  const plain = (title ?? '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
  if (textOf(information.get('Title')) !== plain)
    faults.push(archive('6.6.3', 'the title differs between Info and metadata'))
  if (information.get('Producer') !== said('pdf:Producer') || information.get('Creator') !== said('xmp:CreatorTool'))
    faults.push(archive('6.6.3', 'the producer differs between Info and metadata'))
  return faults
}
