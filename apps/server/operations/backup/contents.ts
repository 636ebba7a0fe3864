import { withOwner } from '../../platform/installation.ts'

/** Summary of a database: enough to recognise it, and to see that it is whole. */
export interface Contents {
  /** A digest of the key of the installation. */
  installation: string
  /** Renewed each minute in which the program runs. */
  markedAt: Date
  workspaces: number
  companies: number
  receipts: number
  documents: number
  /** Events that were asked for and are not settled. */
  waitingEvents: number
  /** Bytes of the database on the disk. */
  bytes: number
}

/** Reads it as the owner at `url`. `receipts` and `documents` are counted row by row, each page of their tables with its checksum. */
export async function readContents(url: string): Promise<Contents> {
  return withOwner(url, async (client) => {
    const { rows: installations } = await client.query<Pick<Contents, 'installation' | 'markedAt' | 'bytes'>>(`
      select encode(sha256(id_key), 'hex') as installation, marked_at as "markedAt",
             pg_database_size(current_database())::float8 as bytes
        from installation`)
    const [installation] = installations
    if (!installation) throw new Error('the database has no installation')
    const { rows: counts } = await client.query<
      Pick<Contents, 'workspaces' | 'companies' | 'receipts' | 'documents' | 'waitingEvents'>
    >(`
      select (select count(*)::int from workspace) as workspaces, (select count(*)::int from company) as companies,
             (select count(*)::float8 from receipt) as receipts, (select count(*)::float8 from document) as documents,
             (select count(*)::int from outgoing_event where state in ('waiting', 'sending')) as "waitingEvents"`)
    return { ...installation, ...counts[0]! }
  })
}
