import { expect, test } from 'vitest'
import { routes } from '../../start.ts'
import type { Context } from '../context.ts'
import { testSession } from '../testing.ts'

const changing = routes.filter(({ route }) => route.access === 'session' && route.method !== 'GET')
const nameOf = ({ route: { method, path } }: (typeof routes)[number]) => `${method} ${path.replace('/v1/api/', '')}`
const session = { ...testSession(1), shared: true }
const input = { params: undefined, query: undefined, body: undefined, form: undefined }
const caller = { address: '192.0.2.1', agent: '' }

test('who shares a login reads, answers, exports and tries out, and changes nothing else', async () => {
  const allowed = changing.filter(({ route }) => route.shared)
  expect(allowed.map(nameOf).toSorted()).toEqual([
    'POST Alertas/regras/{id}/testar',
    'POST Auditoria/exportar',
    'POST Auth/confirmar',
    'POST Auth/encerrar-sessoes',
    'POST Auth/sair',
    'POST Avisos/lidos',
    'POST DocumentosFiscais/exportacoes/{id}/link',
    'POST DocumentosFiscais/exportar',
    'POST DocumentosFiscais/imprimir',
    'POST DocumentosFiscais/manifestacoes/{idDfe}/reenviar',
    'POST DocumentosFiscais/manifestar-cte',
    'POST DocumentosFiscais/manifestar-nfe',
    'POST DocumentosFiscais/previa-manifestacao',
    'POST Empresas',
    'POST Empresas/certificados-em-lote',
    'POST Empresas/certificados-em-lote/{id}/arquivos',
    'POST Empresas/sincronizar',
    'POST RegrasDeResposta/testar-regra',
    'POST SegundaPessoa/decidir',
  ])
  for (const handled of changing)
    if (!handled.route.shared)
      await expect(handled.run({} as Context, input, session, caller), nameOf(handled)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(/^Esta conta é compartilhada: .*Nada foi alterado\./),
      })
})
