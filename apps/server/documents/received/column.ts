import { type RawBuilder, sql } from 'kysely'

/** The bytes of a receipt of the workspace as `openReceived` takes them; `alias` names its row in the query. */
export function receivedContent(workspaceId: number, alias: string): RawBuilder<Buffer> {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return sql<Buffer>`case when ${column('issuer_certificate_id')} is null then ${column('content')} else ${column('content')} || (
    select k.der from issuer_certificate k where k.workspace_id = ${workspaceId} and k.id = ${column('issuer_certificate_id')}) end`
}
