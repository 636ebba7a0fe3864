import { createCompany, synchronizeCompany } from '@vigia/contract/companies'
import { chainsTo } from '@vigia/sefaz/chain'
import * as companies from '../companies/companies.ts'
import { readAuthorities } from '../platform/authorities.ts'
import { handle } from '../platform/http.ts'
import { requestSync, subscribe } from './capture.ts'

export const captureRoutes = [
  handle(createCompany, async (ctx, { form, session }) => {
    const certificate = await companies.openCertificate(form.Certificado, form.Senha)
    const proved = chainsTo(certificate, await readAuthorities(ctx.config))
    const company = await ctx.db.transaction().execute(async (db) => {
      const company = await companies.createCompany({ ...ctx, db }, session, certificate)
      await subscribe({ db }, session.workspaceId, company, { proved })
      return company
    })
    return { data: { idEmpresa: company.publicId }, message: 'Empresa cadastrada com sucesso!' }
  }),

  handle(synchronizeCompany, async (ctx, { query, session }) => {
    const companyId = await companies.getCompanyId(ctx, session.workspaceId, query.idEmpresa)
    const lines = await requestSync(ctx, session.workspaceId, companyId)
    const next = new Date(Math.min(...lines.map((line) => line.at.getTime())))
    return { data: { proximaConsulta: next.toISOString() }, message: syncMessage(lines, next) }
  }),
]

const clock = new Intl.DateTimeFormat('pt-BR', { timeZone: 'America/Sao_Paulo', hour: '2-digit', minute: '2-digit' })

function syncMessage(lines: { allowed: boolean; blocked: boolean }[], next: Date): string {
  if (lines.some((line) => line.allowed)) return 'Sincronização iniciada. Os documentos novos aparecem em instantes.'
  const when = clock.format(next)
  return lines.some((line) => line.blocked)
    ? `A SEFAZ bloqueou as consultas deste CNPJ; perguntar agora só aumentaria a espera. A captura volta sozinha às ${when}.`
    : `A SEFAZ permite uma consulta por hora. A próxima será feita sozinha às ${when}.`
}
