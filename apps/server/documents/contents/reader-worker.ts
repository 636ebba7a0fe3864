import { parentPort } from 'node:worker_threads'
import { noteOf, tripOf } from '@vigia/checks/freight/trip'
import { findingsOf } from '@vigia/checks/reform/findings'
import { inForceFrom } from '@vigia/checks/reform/tables'
import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import { type CteContents, contentsOf, type NfeContents, readDetails } from '@vigia/dfe/read'
import { openReceived } from '../received/bytes.ts'
import { pack, productsOf, unpack } from './packing.ts'
import type { ReadAnswer, ReadQuestion, ThreadWork } from './reading.ts'
import { findingBits, presence } from './reading.ts'
import { mergeParts } from './segments.ts'
import { cents, type DocumentSums, type Side, sumsOf, taxIdOf } from './sums.ts'
import { termsOf } from './terms.ts'

// Runs in a thread of its own: a document of 990 items takes longer to read than a hundred small ones to store.

parentPort?.on('message', (work: ThreadWork) => {
  parentPort?.postMessage('merge' in work ? mergeParts(work.merge) : work.read.map(answer))
})
parentPort?.postMessage('ready')

function answer({ content, side, before }: ReadQuestion): ReadAnswer | null {
  try {
    const contentsBefore = before && unpack(before.value)
    const taken = contentsBefore ? sums(contentsBefore, before.side) : noSums
    if (content === null) return { taken, added: noSums, read: null }
    const details = readDetails(openReceived(content))
    const contents = details && contentsOf(details)
    if (!contents) return { taken, added: noSums, read: null }
    const { products } = productsOf(contents)
    const findings = findingsOf(contents)
    const bought = isPurchase(contents)
    const counted = side === 0 && !bought ? null : side
    const terms = termsOf(contents)
    return {
      taken,
      added: sums(contents, counted),
      read: {
        side: counted,
        value: pack(contents),
        products,
        terms,
        sameTerms: contentsBefore !== null && termsOf(contentsBefore).join() === terms.join(),
        issuer: taxIdOf(contents.issuer),
        reform: presenceOf(contents),
        findings: findingBits(findings.map(({ code }) => code)),
        ...amountsOf(contents),
        trip: contents.type === cte.id ? tripOf(contents) : null,
        note: contents.type === nfe.id ? noteOf(contents) : null,
        dues: (bought ? contents.due : []).map(({ nDup, dVenc, vDup }) => ({
          number: nDup ?? '',
          // Without a due date it is still owed: PostgreSQL sorts infinity after every day.
          dueOn: isDay(dVenc) ? dVenc : 'infinity',
          amount: cents(vDup),
        })),
      },
    }
  } catch {
    // Unreadable documents are kept, and found by their summary.
    return null
  }
}

// Entry notes of the issuer, devoluções, and notas de crédito e débito (finNFe 4, 5, 6) bring nothing that is bought.
function isPurchase(contents: NfeContents | CteContents): boolean {
  const { tpNF, finNFe } = contents.head
  return contents.type === nfe.id && tpNF !== '0' && finNFe !== '4' && finNFe !== '5' && finNFe !== '6'
}

const noSums: DocumentSums = { byKey: [], byProduct: [] }

function sums(contents: NfeContents | CteContents, side: Side | null): DocumentSums {
  return side === null ? noSums : sumsOf(contents, side, productsOf(contents).places)
}

function isDay(text: string | undefined): text is string {
  return (
    /^(?:19|20)\d{2}-\d{2}-\d{2}$/.test(text ?? '') &&
    !Number.isNaN(Date.parse(text!)) &&
    new Date(text!).toISOString().startsWith(text!)
  )
}

function presenceOf(contents: NfeContents | CteContents): number {
  const groups = contents.type === nfe.id ? contents.items : [contents]
  const having = groups.filter(({ IBSCBS }) => IBSCBS !== undefined).length
  if (having > 0) return having === groups.length ? presence.all : presence.some
  const { CRT, dhEmi = '' } = contents.head
  // 1 and 2 are of the Simples, 4 is of the MEI; before 2026 nobody had them.
  return dhEmi < inForceFrom || CRT === '1' || CRT === '2' || CRT === '4' ? presence.exempt : presence.none
}

function amountsOf(contents: NfeContents | CteContents): { ibs: bigint | null; cbs: bigint | null } {
  const said = contents.type === nfe.id ? contents.reformTotals : contents.IBSCBS
  const amount = (text: string | undefined) => (text === undefined ? null : cents(text))
  return { ibs: amount(said?.vIBS), cbs: amount(said?.vCBS) }
}
