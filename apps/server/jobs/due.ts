import { type RawBuilder, sql } from 'kysely'
import type { Database, WithDatabase } from '../platform/context.ts'
import { asScheduler, isDistributed } from '../platform/database.ts'

interface Question {
  rows: RawBuilder<unknown>
  answer: PromiseWithResolvers<boolean>
}

// The loops of a process rest until the same beat: their questions come within moments of each other.
const gatheringMs = 5

const gathering = new WeakMap<Database, Question[]>()

/**
 * Whether there are `rows`, a query that uses an index and sees what belongs to the work of all workspaces. What several loops ask at the same time is one statement:
 * a claim that finds nothing costs five times as much. On several servers the answer is always yes, because each question would be asked of all of them.
 */
export async function isDue({ db }: WithDatabase, rows: RawBuilder<unknown>): Promise<boolean> {
  if (await isDistributed({ db })) return true
  const answer = Promise.withResolvers<boolean>()
  const others = gathering.get(db)
  if (others) others.push({ rows, answer })
  else {
    const questions = [{ rows, answer }]
    gathering.set(db, questions)
    setTimeout(() => {
      gathering.delete(db)
      void ask(db, questions)
    }, gatheringMs)
  }
  return answer.promise
}

async function ask(db: Database, questions: readonly Question[]): Promise<void> {
  // Loops of one kind of row ask the same.
  const different = [...new Set(questions.map(({ rows }) => rows))]
  try {
    const found = await asScheduler({ db }, async ({ db }) => {
      const { rows } = await sql<{ found: boolean[] }>`
        select array[${sql.join(different.map((rows) => sql`exists (${rows})`))}] as found`.execute(db)
      return rows[0]!.found
    })
    for (const { rows, answer } of questions) answer.resolve(found[different.indexOf(rows)]!)
  } catch (error) {
    for (const { answer } of questions) answer.reject(error)
  }
}
