import { sql } from 'kysely'
import type { Context, WithDatabase } from './context.ts'

/**
 * Troubles of the whole installation: `title` heads the mail to the operator; everybody reads
 * `shown` on the dashboard, without details of the machine. A kind without `shown` does not concern
 * them.
 */
const kinds = {
  espaco: {
    title: 'Falta espaço para guardar documentos',
    shown:
      'A captura está em pausa por um problema de armazenamento do sistema. Os documentos já guardados estão seguros, e os novos esperam na SEFAZ, que os guarda por cerca de 90 dias. Resolver isso é com quem administra o sistema; você não precisa fazer nada.',
  },
  relogio: {
    title: 'O relógio do servidor está errado',
    shown:
      'O relógio do sistema está errado, e por isso consultas podem atrasar e horários podem aparecer trocados. Os documentos já guardados estão seguros. Resolver isso é com quem administra o sistema; você não precisa fazer nada.',
  },
  liberacao: {
    title: 'As manifestações esperam por uma liberação',
    shown:
      'A captura funciona, e nenhuma manifestação sai até uma pessoa conferir o que espera e liberar o envio, em “Aprovações pendentes”; o que for pedido até lá continua na fila, e os webhooks e e-mails que já esperavam também.',
  },
  consultas: {
    title: 'Nada é consultado na SEFAZ',
    shown:
      'As consultas à SEFAZ estão atrasadas em todo o sistema. Os documentos já guardados estão seguros, e os novos esperam na SEFAZ, que os guarda por cerca de 90 dias. Resolver isso é com quem administra o sistema; você não precisa fazer nada.',
  },
  assinador: {
    title: 'O assinador não responde',
    shown:
      'A captura e o envio de manifestações estão em pausa por um problema do sistema. Os documentos já guardados estão seguros, os novos esperam na SEFAZ, que os guarda por cerca de 90 dias, e as manifestações pedidas esperam na fila. Resolver isso é com quem administra o sistema; você não precisa fazer nada.',
  },
  trabalho: {
    title: 'O processo que captura não funciona',
    shown:
      'A captura, as manifestações, os alertas, as exportações e os e-mails estão em pausa por um problema do sistema. Os documentos já guardados estão seguros, os novos esperam na SEFAZ, que os guarda por cerca de 90 dias, e o que foi pedido espera na fila. Resolver isso é com quem administra o sistema; você não precisa fazer nada.',
  },
  copia: { title: 'As cópias de segurança não estão em dia' },
  servico: { title: 'A SEFAZ não atende este servidor' },
  paradas: { title: 'Capturas pararam com uma recusa da SEFAZ' },
} satisfies Record<string, { title: string; shown?: string }>

export type TroubleKey = keyof typeof kinds

const shownOf = (key: TroubleKey) => (kinds[key] as { shown?: string }).shown

interface Trouble {
  key: TroubleKey
  since: Date
  sentence: string
}

/**
 * Notes a trouble of the installation: `sentence` tells the operator what happened, what is safe
 * and what to do. Repeated, it only renews the sentence.
 */
export async function noteTrouble({ db }: WithDatabase, key: TroubleKey, sentence: string): Promise<void> {
  await sql`
    insert into trouble as t (key, sentence) values (${key}, ${sentence})
    on conflict (key) do update
       set sentence = excluded.sentence, ended_at = null
     where t.sentence <> excluded.sentence or t.ended_at is not null`.execute(db)
}

/** Notes that it is over; forgets it if the operator was never told. */
export async function endTrouble({ db }: WithDatabase, key: TroubleKey): Promise<void> {
  await sql`
    with forgotten as (delete from trouble where key = ${key} and told_at is null)
    update trouble set ended_at = now() where key = ${key} and told_at is not null and ended_at is null`.execute(db)
}

/** Troubles that have not ended, the oldest first. */
export async function listTroubles({ db }: WithDatabase): Promise<Trouble[]> {
  const { rows } = await sql<Trouble>`
    select key, since, sentence from trouble where ended_at is null order by since, key`.execute(db)
  return rows
}

/** Notices for everybody; `storage` tells of missing space, because a full disk takes no row. */
export async function listNotices({
  db,
  storage,
}: Pick<Context, 'db' | 'storage'>): Promise<{ key: string; text: string }[]> {
  const troubles = await listTroubles({ db })
  const keys = new Set<TroubleKey>([...(storage.trouble ? ['espaco' as const] : []), ...troubles.map(({ key }) => key)])
  const held = await db.selectFrom('installation').select('held_why as why').executeTakeFirst()
  return [...keys].flatMap((key) => {
    const text = shownOf(key)
    if (text === undefined) return []
    return [{ key, text: key === 'liberacao' && held?.why ? `${held.why} ${text}` : text }]
  })
}

const standstills: readonly TroubleKey[] = ['assinador', 'trabalho']

/** Why nothing of any company is asked for at the moment, as everybody reads it, but for space; null: it is. */
export async function findStandstill({ db }: WithDatabase): Promise<string | null> {
  const troubles = await listTroubles({ db })
  const found = standstills.find((key) => troubles.some((trouble) => trouble.key === key))
  return found ? (shownOf(found) ?? null) : null
}

/** How a trouble is headed. */
export function titleOf(key: TroubleKey): string {
  return kinds[key].title
}
