import { PassThrough, Readable } from 'node:stream'
import { ZipFile } from 'yazl'

export interface Entry {
  /** With its folders, separated by slashes. */
  name: string
  /** Bytes, or what makes them while they are taken. */
  content: Uint8Array | AsyncIterable<Uint8Array>
  at: Date
  /** Its content is compressed already. */
  stored?: boolean
}

/** A stream whose bytes are made while it is read. The signal says that it was destroyed and nothing more is asked for. */
export function streamOf(bytes: (abandoned: AbortSignal) => AsyncGenerator<Uint8Array>): Readable {
  const abandoning = new AbortController()
  const made = bytes(abandoning.signal)
  return new Readable({
    read() {
      made.next().then(
        ({ value, done }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      )
    },
    destroy(error, callback) {
      abandoning.abort()
      made.return(undefined).then(
        () => callback(error),
        () => callback(error),
      )
    },
  })
}

/** A ZIP that is made while it is read: an entry is asked for when those before have been taken. */
export function zip(entries: (abandoned: AbortSignal) => AsyncIterable<Entry>): Readable {
  return streamOf((abandoned) => bytesOf(entries(abandoned), abandoned))
}

async function* bytesOf(entries: AsyncIterable<Entry>, abandoned: AbortSignal): AsyncGenerator<Buffer> {
  const file = new ZipFile()
  const output = file.outputStream
  if (!(output instanceof PassThrough)) throw new TypeError('the ZIP is not a stream of this Node')
  file.on('error', (error: Error) => output.destroy(error))
  abandoned.addEventListener('abort', () => output.destroy(), { once: true })
  const filling = fill(file, output, entries)
  // Reading the output does not await `filling`, so its failure goes to the output.
  filling.catch((error: Error) => output.destroy(error))
  try {
    yield* output
    await filling
  } finally {
    // Closing the ZIP early waits until nothing of it runs any more.
    await filling.catch(() => {})
  }
}

interface Written {
  utf8FileName: Buffer
}

async function fill(file: ZipFile, output: PassThrough, entries: AsyncIterable<Entry>): Promise<void> {
  let goOn = () => {}
  const written: Written[] = []
  const inside = file as unknown as { entries: Written[] }
  output.once('close', () => goOn())
  for await (const { name, content, at, stored = false } of entries) {
    if (output.destroyed) return
    await new Promise<void>((resolve) => {
      goOn = resolve
      const size = content instanceof Uint8Array ? { size: content.length } : {}
      file.addReadStreamLazy(name, { mtime: at, compress: !stored, ...size }, handOver(content, resolve))
      keepNameAlone(inside.entries.at(-1)!)
    })
    // The library looks for the next entry from the first one on, each time: with a hundred thousand that would be minutes.
    written.push(...inside.entries.splice(0, inside.entries.length - 1))
  }
  inside.entries = [...written, ...inside.entries]
  file.end()
}

// A name is cut from a slab of 64 kB, which it would hold in memory until the end of the ZIP.
function keepNameAlone(entry: Written): void {
  const alone = Buffer.alloc(entry.utf8FileName.length)
  alone.set(entry.utf8FileName)
  entry.utf8FileName = alone
}

type Give = (error: unknown, source: Readable) => void

// The library keeps this function, and all that it knows, until the end of the ZIP; what `addBuffer` is given it keeps in any case.
function handOver(content: Entry['content'], taken: () => void): (give: Give) => void {
  let held: { source: Readable; taken: () => void } | null = {
    source: Readable.from(content instanceof Uint8Array ? [content] : content, { objectMode: false }),
    taken,
  }
  return (give) => {
    give(null, held!.source)
    held!.taken()
    held = null
  }
}

const nameMax = 60
// Names of devices on Windows, with any extension.
const device = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)/i

/** `text` as (the beginning of) the name of a file or folder that every operating system takes; may be empty. */
export function safeName(text: string): string {
  const name = text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[<>:"/\\|?*\uFFFD]|\p{Cc}/gu, ' ')
    // Invisible characters, those of text direction included.
    .replace(/\p{C}/gu, '')
    .replace(/\s+/g, ' ')
  const short = [...name.trim()].slice(0, nameMax).join('')
  // Windows drops dots and spaces at the end; a dot in front hides a folder elsewhere.
  const bare = short.replace(/^[.\s]+|[.\s]+$/g, '')
  return device.test(bare) ? `_${bare}` : bare
}
