import type { CertificationAuthority } from '../certificates.ts'
import type { Clock } from '../clock.ts'
import { openSigners } from '../generate/signers.ts'
import type { Ledger } from '../ledger.ts'
import { activate, publishFiles } from '../publication.ts'
import { type Step, stepsBetween, surpriseAt } from './days.ts'
import { clientes } from './office.ts'
import { createPlay } from './play.ts'

/** The trade of an accounting office, published as its time comes. */
export interface Story {
  /** Publishes everything that has happened since the last time; returns how many documents and events that is. */
  tell(): Promise<number>
  /** Chave of the note of this start that its supplier will cancel. */
  surprise: string
  cancelSurprise(): Promise<void>
}

interface StoryOptions {
  tpAmb: 1 | 2
  directory: string
  ledger: Ledger
  clock: Clock
  certification: CertificationAuthority
}

const beganNote = 'story:began'
const toldNote = 'story:told'
// A protocol is dated some seconds after its document.
const delayMs = 60_000

/** Opens the story at its first start or goes on with it. Tells nothing yet. */
export async function openStory({ tpAmb, directory, ledger, clock, certification }: StoryOptions): Promise<Story> {
  const play = createPlay({ tpAmb, signers: await openSigners(directory, certification, clock.now()) })
  const now = clock.now()
  for (const { cnpj } of Object.values(clientes)) activate(ledger, cnpj, now)
  const began = Number(ledger.notes.get(beganNote) ?? now)
  const remember = (name: string, value: number) => ledger.append([{ type: 'note', name, value: String(value) }])
  if (began === now) remember(beganNote, now)

  const publish = async (steps: readonly Pick<Step, 'make'>[]) => {
    const files: Uint8Array[] = []
    for (const { make } of steps) files.push(await make())
    const incoming = files.map((bytes) => ({ load: () => bytes }))
    publishFiles(ledger, clock, incoming, { activateParties: false, authorizedHere: true })
  }
  const surprise = surpriseAt(play, now)
  let surpriseTold = false
  return {
    surprise: (await surprise.note()).chave,
    async tell() {
      const until = clock.now() - delayMs
      const steps = stepsBetween(play, began, Number(ledger.notes.get(toldNote) ?? 0), until)
      if (!surpriseTold)
        steps.push({ at: now, make: async () => (await surprise.note()).bytes }, { at: now, make: surprise.answer })
      surpriseTold = true
      await publish(steps)
      remember(toldNote, until)
      return steps.length
    },
    cancelSurprise: () => publish([{ make: () => surprise.cancel(clock.now()) }]),
  }
}
