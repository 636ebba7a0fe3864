import { formatCnpj } from '@vigia/dfe/cnpj'
import type { TwoWorkspaces } from './two-workspaces.ts'

/** Texts that identify the other workspace, except its ids, which are sent. */
export async function collectSecrets({ theirs, mine, owner }: TwoWorkspaces): Promise<string[]> {
  const workspace = (member: typeof mine) =>
    `(select workspace_id from account where email = '${member.account.email}')`
  const { rows } = await owner.query<{ text: string }>(
    `select chave as text from document where workspace_id = ${workspace(theirs)}
     union select name from supplier where workspace_id = ${workspace(theirs)}
        and name not in (select name from supplier where workspace_id = ${workspace(mine)})
     union select serial_number from certificate where workspace_id = ${workspace(theirs)}`,
  )
  const { account, company } = theirs
  const known = [account.nome, account.email, company.nome, company.cnpj, formatCnpj(company.cnpj), theirs.token]
  if (rows.length < 20) throw new Error('the other workspace has too little to tell it apart')
  return [...known, ...rows.map(({ text }) => text)].filter((text) => text.length > 7)
}

/** Every row that the other workspace has, table by table. */
export async function takeSnapshot({ owner, theirs }: TwoWorkspaces): Promise<Map<string, string[]>> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select c.table_name as name from information_schema.columns c join pg_class r on r.relname = c.table_name
      where c.table_schema = 'public' and c.column_name = 'workspace_id' and r.relkind = 'r'`,
  )
  const where = `where workspace_id = (select workspace_id from account where email = '${theirs.account.email}')`
  const lines = `where line_id in (select line_id from capture_subscription ${where})`
  const conditions: [string, string][] = [
    ...tables.map(({ name }): [string, string] => [name, where]),
    ['workspace', where.replace('workspace_id =', 'id =')],
    ['capture_line', lines.replace('line_id in', 'id in')],
    ['capture_call', lines],
    ['capture_gap', lines],
  ]
  const picture = new Map<string, string[]>()
  for (const [name, condition] of conditions) {
    const { rows } = await owner.query<{ row: string }>(
      `select left(t::text, 200) || md5(t::text) as row from "${name}" t ${condition} order by t::text`,
    )
    picture.set(
      name,
      rows.map(({ row }) => row),
    )
  }
  return picture
}
