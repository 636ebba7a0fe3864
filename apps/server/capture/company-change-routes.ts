import {
  archiveCompany,
  createCompany,
  reactivateCompany,
  removeCertificate,
  synchronizeCompany,
  updateCompany,
} from '@vigia/contract/companies'
import type { RouteInput } from '@vigia/contract/route'
import { formatBrasiliaTime } from '@vigia/contract/text'
import { formatCnpj, parseCnpj } from '@vigia/dfe/cnpj'
import { familyOf } from '@vigia/dfe/families/lookup'
import { requireProvedEmail } from '../accounts/email-proof.ts'
import { lockSettings, recordArchiving, recordChanges, recordRemoval, recordSync } from '../companies/audit-entries.ts'
import { batchRoutes } from '../companies/batch-routes.ts'
import * as certificates from '../companies/certificates.ts'
import * as companies from '../companies/companies.ts'
import { type CapturesOfCertificates, isProved, register } from '../companies/registration.ts'
import type { Context, WithConfig } from '../platform/context.ts'
import { beyondLimit, inTransaction, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import { requireScope } from '../platform/http/keys.ts'
import { requireRecentProof } from '../platform/http/proof.ts'
import type { Session } from '../platform/http/session.ts'
import { findOutage, type Outage, outageSentence } from '../sefaz/circuit.ts'
import { followSwitch, requestSync, type SyncRequest, stopWithoutCertificate } from './capture.ts'
import { followPlan } from './plan.ts'
import { distributionUrl } from './sources/call.ts'
import { getCapturedCompany } from './state.ts'

export const companyChangeRoutes = (captures: CapturesOfCertificates) => [
  handle(createCompany, 'slow', async (ctx, { form, session }) => {
    await requireProvedEmail(ctx, session)
    const wanted = parseCnpj(form.Cnpj ?? '') ?? undefined
    const certificate = await certificates.openCertificate(form.Certificado, form.Senha, wanted)
    const proved = await isProved(ctx, certificate)
    const cnpj = wanted ?? certificate.cnpj
    const company = await inTransaction(ctx, (ctx) => register(ctx, captures, session, { certificate, proved }, cnpj))
    return { data: { idEmpresa: company.publicId }, message: 'Empresa cadastrada com sucesso!' }
  }),

  handle(updateCompany, 'slow', async (ctx, { form, session }) => {
    const { id: companyId, cnpj } = await companies.getCompany(ctx, session.workspaceId, form.IdEmpresa)
    const file = form['CertificadoDigital.Certificado']
    const password = form['CertificadoDigital.Senha'] ?? ''
    if (file) {
      requireKeeper(session)
      await requireProvedEmail(ctx, session)
    }
    const certificate = file && (await certificates.openCertificate(file, password, cnpj))
    const proved = certificate !== undefined && (await isProved(ctx, certificate))
    const isActive = await inWorkspace(beyondLimit(ctx), session.workspaceId, async (ctx) => {
      const { db } = ctx
      const before = await lockSettings({ db }, session.workspaceId, companyId)
      // From then on events leave in the company's name.
      if (changeOf(form).acknowledges && !before.acknowledges) {
        requireRecentProof(session)
        requireScope(session, 'documentos:responder')
      }
      const company = await companies.updateCompany(ctx, session, companyId, changeOf(form), certificate)
      // First, because it locks the capture lines of the whole base, including the lines locked below.
      if (certificate) await captures.resume({ db }, session.workspaceId, company.cnpj, { proved })
      await followSwitch({ db }, session.workspaceId, companyId)
      const after = await lockSettings({ db }, session.workspaceId, companyId)
      await recordChanges({ db }, session, { before, after, certificate })
      return after.active
    })
    const paused = certificate && !isActive ? ' Ela está arquivada: reative-a para a captura continuar.' : ''
    return { data: null, message: `Empresa atualizada com sucesso!${paused}` }
  }),

  handle(removeCertificate, async (ctx, { query, session }) => {
    const { workspaceId } = session
    const companyId = await companies.getCompanyId(ctx, workspaceId, query.id)
    return inWorkspace(ctx, workspaceId, async (ctx) => {
      const company = await lockSettings(ctx, workspaceId, companyId)
      const removed = await certificates.removeCertificate(ctx, workspaceId, { id: companyId, cnpj: company.cnpj })
      await stopWithoutCertificate(ctx, workspaceId, company.cnpj)
      await recordRemoval(ctx, session, company, removed)
      const owner = await certificates.findCertificateOwner(ctx, workspaceId, company.cnpj)
      return { data: null, message: `Certificado removido e chave privada apagada. ${whatFollows(owner)}` }
    })
  }),

  handle(archiveCompany, async (ctx, { query, session }) => {
    await setArchived(ctx, session, query.id, true)
    const uncounted = ctx.config.plans ? ', e ela não conta mais no plano' : ''
    const message = `Empresa arquivada: nada mais é consultado na SEFAZ em nome dela. Os documentos já guardados continuam aqui${uncounted}.`
    return { data: null, message }
  }),

  handle(reactivateCompany, async (ctx, { query, session }) => {
    await setArchived(ctx, session, query.id, false)
    return { data: null, message: 'Empresa reativada. A captura continua assim que a SEFAZ permitir.' }
  }),

  handle(synchronizeCompany, async (ctx, { query, session }) => {
    const companyId = await companies.getCompanyId(ctx, session.workspaceId, query.idEmpresa)
    const requests = await inWorkspace(beyondLimit(ctx), session.workspaceId, async (ctx) => {
      await recordSync(ctx, session, companyId)
      return requestSync(ctx, session.workspaceId, companyId)
    })
    const company = await getCapturedCompany(ctx, session.workspaceId, query.idEmpresa)
    const reason = whyNothingLeaves(company)
    if (reason !== null) return { data: { proximaConsulta: null }, message: reason }
    const times = requests.flatMap(({ at }) => (at ? [at.getTime()] : []))
    const proximaConsulta = times.length > 0 ? new Date(Math.min(...times)).toISOString() : null
    return { data: { proximaConsulta }, message: await syncMessage(ctx, requests, company) }
  }),

  ...batchRoutes,
]

async function setArchived(ctx: Context, session: Session, publicId: string, archived: boolean): Promise<void> {
  const { workspaceId } = session
  const companyId = await companies.getCompanyId(ctx, workspaceId, publicId)
  await inWorkspace(beyondLimit(ctx), workspaceId, async (ctx) => {
    const company = await lockSettings(ctx, workspaceId, companyId)
    if (!(await companies.setArchived(ctx, workspaceId, companyId, archived))) return
    await followPlan(ctx, workspaceId)
    await recordArchiving(ctx, session, company, archived)
  })
}

// A certificate serves every company of its base, and signs in their names.
function requireKeeper({ role, companies }: Session): void {
  if (role === 'administrador' && companies === null) return
  throw new AppError(
    'forbidden',
    'Certificados são só de quem administra o workspace. Nada foi alterado: envie a mudança sem o certificado, ou peça a quem administra.',
  )
}

// Codes of participation (section 3).
function changeOf(form: RouteInput<typeof updateCompany>['form']): companies.CompanyChange {
  return {
    name: form.RazaoSocial,
    email: form.Email === '' ? null : form.Email,
    uf: form.Uf,
    automatic: form.SincronizacaoAutomatica,
    shown: {
      nfe: [
        [0, form['ConfiguracoesNfe.Emitente']],
        [1, form['ConfiguracoesNfe.Destinatario']],
        [2, form['ConfiguracoesNfe.Transportador']],
        [3, form['ConfiguracoesNfe.Terceiro']],
      ],
      cte: [
        [0, form['ConfiguracoesCte.Emitente']],
        [1, form['ConfiguracoesCte.Destinatario']],
        [3, form['ConfiguracoesCte.Terceiro']],
        [4, form['ConfiguracoesCte.Remetente']],
        [5, form['ConfiguracoesCte.Expedidor']],
        [6, form['ConfiguracoesCte.Recebedor']],
        [7, form['ConfiguracoesCte.Tomador']],
      ],
    },
    acknowledges: form['ConfiguracoesNfe.ManifestarCienciaAutomaticamente'],
  }
}

const started = 'Sincronização iniciada. Os documentos novos aparecem em instantes.'
const noted = 'Pedido anotado. A consulta é feita sozinha assim que a SEFAZ permitir.'
const late =
  'Pedido anotado, mas a captura está atrasada e pode demorar. Os documentos já guardados estão seguros; se não mudar em uma hora, quem administra o sistema confere se o programa de captura (worker) está em execução.'
const expired =
  'O certificado digital desta empresa venceu, e sem um certificado válido nada é consultado na SEFAZ. Os documentos já guardados estão seguros; envie um certificado novo na edição da empresa.'

function whatFollows(owner: Awaited<ReturnType<typeof certificates.findCertificateOwner>>): string {
  return owner?.valid
    ? `A captura continua com o certificado de ${owner.name} (${formatCnpj(owner.cnpj)}), que tem a mesma raiz de CNPJ.`
    : 'Sem outro certificado válido da mesma raiz de CNPJ, nada mais é consultado nem enviado à SEFAZ em nome desta empresa, nem das que usavam este certificado. Os documentos já guardados estão seguros; envie um certificado novo para a captura continuar.'
}

type CompanyRecord = Awaited<ReturnType<typeof getCapturedCompany>>

function whyNothingLeaves({ valid_to, lines }: CompanyRecord): string | null {
  if (valid_to) return valid_to.getTime() <= Date.now() ? expired : null
  return lines.every(({ state }) => state === 'stopped') ? companies.withoutCertificate : null
}

// One sentence when it is the same for both services.
async function syncMessage(ctx: WithConfig, requests: SyncRequest[], { lines }: CompanyRecord): Promise<string> {
  const told = []
  for (const request of requests) {
    const { service } = request
    const outage = await findOutage(ctx, distributionUrl(ctx, service))
    const isLate = Boolean(lines.find((line) => line.service === request.service)?.late_since)
    told.push({ service, sentence: sentenceOf(request, outage, isLate) })
  }
  const [first] = told
  if (first && told.every(({ sentence }) => sentence === first.sentence)) return first.sentence
  return told.map(({ service, sentence }) => `${familyOf(service).name}: ${sentence}`).join(' ')
}

function sentenceOf({ at, allowed, blocked }: SyncRequest, outage: Outage | null, isLate: boolean): string {
  if (outage && !blocked)
    return outageSentence(outage, 'O pedido está anotado e a consulta é feita sozinha quando ele responder.')
  if (isLate) return late
  if (at === null) return noted
  if (allowed) return started
  return blocked
    ? `A SEFAZ bloqueou as consultas deste CNPJ; perguntar agora só aumentaria a espera. A captura volta sozinha às ${formatBrasiliaTime(at)}.`
    : `A SEFAZ permite uma consulta por hora. A próxima será feita sozinha às ${formatBrasiliaTime(at)}.`
}
