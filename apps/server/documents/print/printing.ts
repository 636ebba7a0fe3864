import { writeBrasiliaTime } from '@vigia/contract/text'
import type { PrintedForm } from '@vigia/dfe/families/family'
import { familyOf, familyOfKey, keyOf } from '@vigia/dfe/families/lookup'
import { status as statuses } from '@vigia/dfe/families/statuses'
import { PrintError } from '@vigia/print/danfe'
import { findLogoOf } from '../../companies/logo.ts'
import type { Context } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { Service } from '../../platform/service.ts'
import { type DocumentFile, getEvent, getFile } from '../files.ts'
import { doubtOf } from '../signatures/proof.ts'
import { noDanfeText } from './no-danfe.ts'
import type { PrintOrder } from './printer.ts'

interface Printed {
  content: Uint8Array
  chave: string
}

/**
 * The printed form of a document of the workspace. Refuses unknown ids, documents that their
 * company hides, and notes that arrived only as a summary.
 */
export async function printDocument(
  ctx: Pick<Context, 'db' | 'ids' | 'printer'>,
  workspaceId: number,
  publicId: string,
  kind: Service,
): Promise<Printed> {
  const found = await getFile(ctx, workspaceId, publicId)
  if (familyOf(found.type).id !== kind) throw new AppError('not-found', 'Documento não encontrado.')
  if (!found.complete) {
    throw new AppError(
      'conflict',
      'Só o resumo desta nota chegou até agora. O DANFE fica disponível quando o XML completo for liberado pela SEFAZ.',
    )
  }
  const form = formOf(found.chave)
  if ('refusal' in form) throw new AppError('conflict', form.refusal)
  const logo = await findLogoOf(ctx, workspaceId, found.issuer_tax_id)
  const content = await print(ctx, orderOf(form, found, logo))
  return { content, chave: found.chave }
}

export async function printEvent(
  ctx: Pick<Context, 'db' | 'ids' | 'printer'>,
  workspaceId: number,
  publicId: string,
  name: string,
): Promise<Printed> {
  const { document, event } = await getEvent(ctx, workspaceId, publicId, name)
  if (event.summary)
    throw new AppError(
      'conflict',
      'Deste evento só o resumo chegou até agora, e ele não traz o texto. O que o resumo diz está no histórico do documento.',
    )
  const order: PrintOrder = {
    form: 'evento',
    name: 'a folha deste evento',
    content: event.content,
    document: document.content,
    options: { undone: event.undone },
  }
  return { content: await print(ctx, order), chave: document.chave }
}

async function print({ printer }: Pick<Context, 'printer'>, order: PrintOrder): Promise<Uint8Array> {
  try {
    return await printer.print(order)
  } catch (cause) {
    if (!(cause instanceof PrintError)) throw cause
    throw new AppError('conflict', `Não conseguimos montar ${order.name}. O XML original está guardado e íntegro.`, {
      cause,
    })
  }
}

type Printable = { content: Uint8Array } & Pick<
  DocumentFile,
  'status' | 'cancelProtocol' | 'cancelledAt' | 'epecProtocol' | 'epecAt' | 'proof'
>

/** The printed form of a document, or the sentence why it has none. */
export function formOf(chave: string): PrintedForm | { refusal: string } {
  const key = keyOf(chave)
  const refusal =
    noDanfeText(key.model ?? undefined) ?? 'Este documento não tem forma impressa; o XML pode ser baixado.'
  return familyOfKey(chave).form(key) ?? { refusal }
}

export function orderOf(
  { form, name }: PrintedForm,
  { content, status, cancelProtocol, cancelledAt, epecProtocol, epecAt, proof }: Printable,
  logo?: Uint8Array,
): PrintOrder {
  const cancelled = status === statuses.cancelled ? responseOf(cancelProtocol, cancelledAt) : undefined
  const epec = epecProtocol === null ? undefined : responseOf(epecProtocol, epecAt)
  return { form, name: `o ${name} deste documento`, content, options: { cancelled, epec, doubt: doubtOf(proof), logo } }
}

function responseOf(protocol: string | null, at: Date | null) {
  return { protocol: protocol ?? undefined, at: at ? writeBrasiliaTime(at) : undefined }
}
