import { getSupplier, listSupplierProducts } from '@vigia/contract/suppliers'
import { getCompanyId } from '../../companies/companies.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { handle } from '../../platform/http/http.ts'
import { type Chosen, listProducts, getSupplier as read } from './suppliers.ts'

export const supplierRoutes = [
  handle(getSupplier, 'slow', async (ctx, { params, query, session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, async (ctx) =>
      read(ctx, await choose(ctx, workspaceId, params.raiz, query.IdEmpresa)),
    ),
  })),

  handle(listSupplierProducts, 'slow', async (ctx, { params, query, session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, async (ctx) =>
      listProducts(ctx, await choose(ctx, workspaceId, params.raiz, query.IdEmpresa), {
        text: query.CampoPesquisa ?? '',
        page: query.PaginaAtual,
      }),
    ),
  })),
]

async function choose(
  { db }: WithDatabase,
  workspaceId: number,
  issuer: string,
  company: string | undefined,
): Promise<Chosen> {
  const companyId = company ? await getCompanyId({ db }, workspaceId, company) : undefined
  return { workspaceId, issuer, companyId }
}
