import { z } from 'zod'
import { route } from './route.ts'
import { messageKinds } from './workspace.ts'

/** So many announcements are not counted one by one. */
export const unreadCountMax = 100

/** What the people of a workspace were told, as open pages showed it (section 4); ours. */
export const AnnouncementRow = z.object({
  idAviso: z.string(),
  quando: z.string(),
  tipo: z.enum(messageKinds),
  titulo: z.string(),
  texto: z.string(),
  /** The account that asks has read it, or it is about what was done in the session that asks. */
  lido: z.boolean(),
})
/** What the browser receives as an announcement. */
export type AnnouncementRow = z.output<typeof AnnouncementRow>

/** What the workspace was told in the last thirty days, the newest first, twenty at a time; ours. */
export const listAnnouncements = route({
  method: 'GET',
  path: '/v1/api/Avisos',
  access: 'session',
  summary: 'Os avisos dos últimos 30 dias, do mais novo ao mais antigo, 20 de cada vez.',
  refusals: [404],
  query: z.object({ antesDe: z.string().optional() }),
  data: z.object({
    items: z.array(AnnouncementRow),
    /** There are older ones. */
    temMais: z.boolean(),
    /** At most `unreadCountMax`. */
    naoLidos: z.number(),
  }),
})

/** Marks an announcement and all older ones as read by the account that asks; ours. */
export const readAnnouncements = route({
  method: 'POST',
  path: '/v1/api/Avisos/lidos',
  access: 'session',
  summary: 'Marca um aviso e todos os mais antigos como lidos por esta conta.',
  refusals: [404],
  body: z.object({ ate: z.string({ error: 'Informe o aviso.' }).min(1, 'Informe o aviso.') }),
  data: z.null(),
})
