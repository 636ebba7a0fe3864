import { createCipheriv, createDecipheriv } from 'node:crypto'

/** Turns internal document numbers into ids that tell nothing and that only this installation can make. */
export interface PublicIds {
  encode(workspaceId: number, id: bigint): string
  /** The internal number, or null when `text` is not an id of this workspace. */
  decode(workspaceId: number, text: string): bigint | null
}

const mark = 0x64_66_65_31

/** Ids are one AES block (mark, workspace, number) under `key` of 16 bytes: no column and no index to keep. */
export function createPublicIds(key: Uint8Array): PublicIds {
  // Blocks of ECB do not depend on one another: one cipher does for all, and to make one costs more than fifty blocks.
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
  return {
    encode(workspaceId, id) {
      const block = Buffer.alloc(16)
      block.writeUInt32BE(mark, 0)
      block.writeInt32BE(workspaceId, 4)
      block.writeBigInt64BE(id, 8)
      return cipher.update(block).toString('base64url')
    },
    decode(workspaceId, text) {
      if (!/^[\w-]{22}$/.test(text)) return null
      const sealed = Buffer.from(text, 'base64url')
      const block = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false).update(sealed)
      if (sealed.toString('base64url') !== text || block.readUInt32BE(0) !== mark) return null
      return block.readInt32BE(4) === workspaceId ? block.readBigInt64BE(8) : null
    },
  }
}
