import { createCompany, synchronizeCompany, updateCompany } from '@vigia/contract/companies'
import type { RouteInput } from '@vigia/contract/route'
import { parseCnpj } from '@vigia/dfe/cnpj'
import { chainsTo } from '@vigia/sefaz/chain'
import * as companies from '../companies/companies.ts'
import { readAuthorities } from '../platform/authorities.ts'
import { handle } from '../platform/http.ts'
import { followSwitch, requestSync, resume, subscribe } from './capture.ts'

export const captureRoutes = [
  handle(createCompany, async (ctx, { form, session }) => {
    const certificate = await companies.openCertificate(form.Certificado, form.Senha)
    const proved = chainsTo(certificate, await readAuthorities(ctx.config))
    const company = await ctx.db.transaction().execute(async (db) => {
      const cnpj = parseCnpj(form.Cnpj ?? '') ?? certificate.cnpj
      const company = await companies.createCompany({ ...ctx, db }, session, certificate, cnpj)
      await subscribe({ db }, session.workspaceId, company, { proved })
      return company
    })
    return { data: { idEmpresa: company.publicId }, message: 'Empresa cadastrada com sucesso!' }
  }),

  handle(updateCompany, async (ctx, { form, session }) => {
    const companyId = await companies.getCompanyId(ctx, session.workspaceId, form.IdEmpresa)
    const file = form['CertificadoDigital.Certificado']
    const certificate = file && (await companies.openCertificate(file, form['CertificadoDigital.Senha'] ?? ''))
    const proved = certificate !== undefined && chainsTo(certificate, await readAuthorities(ctx.config))
    await ctx.db.transaction().execute(async (db) => {
      const company = await companies.updateCompany({ ...ctx, db }, session, companyId, changeOf(form), certificate)
      // First, because it locks the conversations of the whole base, of which the others are part.
      if (certificate) await resume({ db }, session.workspaceId, company.cnpj, { proved })
      await followSwitch({ db }, session.workspaceId, companyId)
    })
    return { data: null, message: 'Empresa atualizada com sucesso!' }
  }),

  handle(synchronizeCompany, async (ctx, { query, session }) => {
    const companyId = await companies.getCompanyId(ctx, session.workspaceId, query.idEmpresa)
    const lines = await requestSync(ctx, session.workspaceId, companyId)
    const next = new Date(Math.min(...lines.map((line) => line.at.getTime())))
    return { data: { proximaConsulta: next.toISOString() }, message: syncMessage(lines, next) }
  }),
]

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

const clock = new Intl.DateTimeFormat('pt-BR', { timeZone: 'America/Sao_Paulo', hour: '2-digit', minute: '2-digit' })

function syncMessage(lines: { allowed: boolean; blocked: boolean }[], next: Date): string {
  if (lines.some((line) => line.allowed)) return 'Sincronização iniciada. Os documentos novos aparecem em instantes.'
  const when = clock.format(next)
  return lines.some((line) => line.blocked)
    ? `A SEFAZ bloqueou as consultas deste CNPJ; perguntar agora só aumentaria a espera. A captura volta sozinha às ${when}.`
    : `A SEFAZ permite uma consulta por hora. A próxima será feita sozinha às ${when}.`
}
