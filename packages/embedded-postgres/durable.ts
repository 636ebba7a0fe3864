import { open } from 'node:fs/promises'

/** A file is on the disk only when its folder is too. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}
