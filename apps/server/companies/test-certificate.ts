import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import type { Context } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { countTry, type Limit } from '../platform/http/throttle.ts'
import { readAuthorities } from './authorities.ts'

// Each one costs the simulator hundreds of signatures.
const limit: Limit = { name: 'test certificate', times: 20, withinMs: 3_600_000 }
const patienceMs = 25_000

const NewCompany = z.object({ cnpj: z.string(), nome: z.string(), pfxBase64: z.base64() })

/** The certificate of a company that the simulated authority makes up for it, with the documents of its last weeks. */
export async function makeTestCertificate(
  ctx: Pick<Context, 'db' | 'config'>,
  workspaceId: number,
): Promise<{ content: Buffer; fileName: string }> {
  const { simulator } = ctx.config
  if (!simulator)
    throw new AppError(
      'not-found',
      'Certificados de teste existem somente onde a SEFAZ é simulada. Aqui as empresas são cadastradas com o certificado A1 delas.',
    )
  await countTry(ctx, limit, String(workspaceId))
  const { cnpj, nome, pfxBase64 } = await askForCompany(ctx, simulator.certificatePassword)
  return { content: Buffer.from(pfxBase64, 'base64'), fileName: `${fileNameOf(nome)} ${cnpj}.pfx` }
}

async function askForCompany({ config }: Pick<Context, 'config'>, senha: string): Promise<z.output<typeof NewCompany>> {
  const url = new URL('/_control/companies', config.sefaz.endpoints.distribution.nfe)
  try {
    const { status, body } = await post(url, await readAuthorities(config), JSON.stringify({ senha }))
    if (status !== 200) throw new Error(`the simulator answered ${status}: ${body.slice(0, 200)}`)
    return NewCompany.parse(JSON.parse(body))
  } catch (cause) {
    throw new AppError(
      'unavailable',
      'A SEFAZ simulada não respondeu, e por isso não há um certificado de teste agora. Nada foi alterado; tente de novo em um minuto.',
      { cause, retryAfterMs: 60_000 },
    )
  }
}

function post(url: URL, ca: string[], body: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const call = request(url, { method: 'POST', ca, headers, signal: AbortSignal.timeout(patienceMs) }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    })
    call.on('error', reject)
    call.end(body)
  })
}

// As it may stand in any folder.
function fileNameOf(name: string): string {
  return name.replace(/[\\/:*?"<>|.]/g, '').trim()
}
