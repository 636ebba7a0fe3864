import { takeEverything } from '@vigia/contract/documents'
import { formatInteger } from '@vigia/contract/text'
import { handle } from '../../platform/http/http.ts'
import { prepareLeaving } from './leaving.ts'

export const leavingRoutes = [
  handle(takeEverything, 'slow', async (ctx, { body, session }) => {
    const { files, receipts } = await prepareLeaving(ctx, session, body)
    return {
      data: { totalDeArquivos: files, totalDeItens: receipts },
      message: `${files === 1 ? 'O arquivo com tudo está' : `Tudo está em ${formatInteger(files)} arquivos, que estão`} a caminho. Acompanhe no sino, de onde você baixa quando ficar pronto: fica lá por três dias.`,
    }
  }),
]
