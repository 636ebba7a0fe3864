import { z } from 'zod'
import { AlertSettingsForm } from './forms.ts'
import { route } from './route.ts'

const AlertSettings = z.object({
  limite: z.number().describe('A partir de quantos reais uma compra precisa de aprovação (regra S07).'),
  limitePadrao: z.boolean().describe('Ninguém escolheu: vale o limite usual.'),
  grupos: z
    .array(z.array(z.string()))
    .describe('Raízes de CNPJ que são do mesmo grupo: seus nomes podem ser parecidos (regra S17).'),
})
/** Settings of the workspace that the alert rules use. */
export type AlertSettings = z.output<typeof AlertSettings>

/** Returns the alert settings of the workspace; ours. */
export const getAlertSettings = route({
  method: 'GET',
  path: '/v1/api/Alertas/ajustes',
  atLeast: 'leitura',
  summary:
    'O limite de aprovação das compras e os grupos de CNPJ relacionados, que as regras dos alertas levam em conta.',
  data: AlertSettings,
})

/** Changes it; ours. */
export const saveAlertSettings = route({
  method: 'PUT',
  path: '/v1/api/Alertas/ajustes',
  atLeast: 'administrador',
  summary: 'Muda o limite e os grupos. O que já foi avaliado é avaliado de novo aos poucos.',
  refusals: [409],
  body: AlertSettingsForm,
  data: AlertSettings,
})
