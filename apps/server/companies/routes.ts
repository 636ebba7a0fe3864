import { downloadTestCertificate, getLogo, removeLogo, sendLogo } from '@vigia/contract/companies'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { recordAudit } from '../accounts/audit/audit.ts'
import { inWorkspace } from '../platform/database.ts'
import { handle } from '../platform/http/http.ts'
import { getCompany, getCompanyId } from './companies.ts'
import * as logo from './logo.ts'
import { makeTestCertificate } from './test-certificate.ts'

export const logoRoutes = [
  handle(getLogo, async (ctx, { query, session: { workspaceId } }) => {
    const companyId = await getCompanyId(ctx, workspaceId, query.id)
    return { content: await logo.getLogo(ctx, workspaceId, companyId) }
  }),

  handle(sendLogo, async (ctx, { form, session }) => {
    const { workspaceId } = session
    const { id, name, cnpj } = await getCompany(ctx, workspaceId, form.IdEmpresa)
    const file = new Uint8Array(await form.Logo.arrayBuffer())
    await inWorkspace(ctx, workspaceId, async (ctx) => {
      await logo.setLogo(ctx, workspaceId, id, file)
      await recordAudit(ctx, session, 'empresa', `Enviou o logotipo da empresa ${name} (${formatCnpj(cnpj)}).`)
    })
    return { data: null, message: 'Logotipo guardado. Ele sai no DANFE e no DACTE que a empresa emite.' }
  }),

  handle(removeLogo, async (ctx, { query, session }) => {
    const { workspaceId } = session
    const { id, name, cnpj } = await getCompany(ctx, workspaceId, query.id)
    await inWorkspace(ctx, workspaceId, async (ctx) => {
      await logo.removeLogo(ctx, workspaceId, id)
      await recordAudit(ctx, session, 'empresa', `Removeu o logotipo da empresa ${name} (${formatCnpj(cnpj)}).`)
    })
    return { data: null, message: 'Logotipo removido. Os documentos saem sem ele.' }
  }),

  handle(downloadTestCertificate, (ctx, { session }) => makeTestCertificate(ctx, session.workspaceId)),
]
