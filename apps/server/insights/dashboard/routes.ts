import { type AlertBand, alertBands } from '@vigia/contract/alerts'
import { getDashboard, getMoney } from '@vigia/contract/workspace'
import { readWorkspace } from '../../platform/database.ts'
import { handle } from '../../platform/http/http.ts'
import { listNotices } from '../../platform/trouble.ts'
import { readDashboard } from './dashboard.ts'
import { readMoney } from './money.ts'

export const dashboardRoutes = [
  handle(getDashboard, async (ctx, { session }) => {
    const { workspaceId } = session
    const { companies, latest, days, summaries, acknowledged, due, altered, confirm, disown, ...waiting } =
      await readDashboard(ctx, workspaceId)
    const alertsOf = (band: AlertBand) => waiting.alerts.get(alertBands.indexOf(band)) ?? 0
    const notices = await listNotices(ctx)
    const sum = (pick: (company: (typeof companies)[number]) => number) =>
      companies.reduce((total, company) => total + pick(company), 0)
    return {
      data: {
        qtdNfe: sum((company) => company.nfe),
        qtdCte: sum((company) => company.cte),
        totalNfeCte: sum((company) => company.nfe + company.cte),
        qtdEmpresasCadastradas: companies.length,
        valorNfe: money(sum((company) => company.amountNfe)),
        valorCte: money(sum((company) => company.amountCte)),
        mesAnterior: {
          qtdNfe: sum(({ before }) => before.nfe),
          qtdCte: sum(({ before }) => before.cte),
          valorNfe: money(sum(({ before }) => before.amountNfe)),
          valorCte: money(sum(({ before }) => before.amountCte)),
        },
        qtdDocumentosPorEmpresa: companies.map((company) => ({
          razaoSocial: company.name,
          qtdNfe: company.nfe,
          qtdCte: company.cte,
          totalNfeCte: company.nfe + company.cte,
          ativa: company.active,
          idEmpresa: company.publicId,
          valorNfeCte: money(company.amountNfe + company.amountCte),
        })),
        ultimosDocumentosProcessados: latest.map(({ id, ...document }) => ({
          ...document,
          idDfe: ctx.ids.encode(workspaceId, BigInt(id)),
        })),
        documentosPorDia: days.map(({ day, nfe, cte }) => ({ dia: day, qtdNfe: nfe, qtdCte: cte })),
        pendencias: {
          resumos: summaries,
          aguardandoResposta: acknowledged,
          canceladasNfe: sum((company) => company.cancelledNfe),
          canceladosCte: sum((company) => company.cancelledCte),
          vencemNfe: due.nfe,
          vencemCte: due.cte,
          mudaramNfe: altered.nfe,
          mudaramCte: altered.cte,
          confirmacoesSugeridas: confirm,
          desconhecimentosPreparados: disown,
          aguardamSegunda: waiting.asked,
          alertas: [...waiting.alerts.values()].reduce((total, n) => total + n, 0),
          alertasCriticos: alertsOf('critico'),
          alertasAltos: alertsOf('alto'),
          alertasMedios: alertsOf('medio'),
          parcelasVencidas: waiting.overdue,
          fretesAConferir: waiting.freight,
        },
        avisos: notices.map(({ text }) => text),
        armazenamentoSaudavel: !notices.some(({ key }) => key === 'espaco'),
        envioRetido: notices.some(({ key }) => key === 'liberacao'),
      },
    }
  }),

  handle(getMoney, 'slow', async (ctx, { session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, (ctx) => readMoney(ctx, workspaceId)),
  })),
]

// Sums of numbers of two decimals, which binary fractions miss by a little.
const money = (sum: number) => Math.round(sum * 100) / 100
