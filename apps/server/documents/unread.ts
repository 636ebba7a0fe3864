import type { WithDatabase } from '../platform/context.ts'
import { behindMax, type Follower, readBehind } from './following.ts'

/** Follower that reads the contents of documents (apps/server/documents/contents). */
export const contentFollower: Follower = { kind: 'contents', table: 'content_position' }

/** How many documents of a workspace are not read from inside yet, up to `most`; `db` is inside it. */
export async function readBacklog(
  { db }: WithDatabase,
  workspaceId: number,
): Promise<{ waiting: number; most: number }> {
  const { changes, older } = await readBehind(db, contentFollower, workspaceId)
  return { waiting: Math.min(behindMax, changes + older), most: behindMax }
}
