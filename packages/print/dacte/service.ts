import { child, children, value } from '@vigia/dfe/document'
import { dateTime, joined } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { stack } from '../layout/block.ts'
import type { FormField } from '../layout/fields.ts'
import { sheetRow } from '../layout/sheet.ts'
import { codeAndText, codeText, codeTexts } from './code-texts.ts'
import type { PrintedCte } from './cte.ts'
import { typeOfCte } from './header.ts'
import { tomadorCode } from './parties.ts'

/** Type of the CT-e and of the service, tomador, globalizado; CFOP and route, of a GTV-e departure and arrival (MOC CT-e 4.00, Anexo II, correlation table). */
export function service(cte: PrintedCte): Block {
  const { ide, layout, norm, sheet } = cte
  const first: FormField[] = [
    { label: 'TIPO DO CT-E', value: typeOfCte(cte), width: 22 },
    { label: 'TIPO DO SERVIÇO', value: codeAndText(codeTexts.tpServ, value(ide, 'tpServ')), width: 26 },
  ]
  if (layout !== 'os') first.push({ label: 'TOMADOR DO SERVIÇO', value: tomadorWord(cte), width: 20 })
  if (layout === 'cte') {
    const yes = value(ide, 'indGlobalizado') === '1'
    const boxes = yes ? '[X] SIM   [  ] NÃO' : '[  ] SIM   [X] NÃO'
    first.push({ label: 'INDICADOR DO CT-E GLOBALIZADO', value: boxes, width: 24 })
    first.push({ label: 'INFORMAÇÕES DO CT-E GLOBALIZADO', value: value(norm, 'infGlobalizado/xObs'), width: 30 })
  }
  const route: FormField[] = [
    {
      label: 'CFOP - NATUREZA DA PRESTAÇÃO',
      value: joined(' - ', value(ide, 'CFOP'), value(ide, 'natOp')),
      width: 48,
    },
    ...(layout === 'gtve'
      ? [
          { label: 'SAÍDA DA ORIGEM', value: dateTime(value(ide, 'dhSaidaOrig')), width: 30 },
          { label: 'CHEGADA AO DESTINO', value: dateTime(value(ide, 'dhChegadaDest')), width: 30 },
        ]
      : [
          { label: 'INÍCIO DA PRESTAÇÃO', value: joined(' - ', value(ide, 'xMunIni'), value(ide, 'UFIni')), width: 30 },
          {
            label: 'TÉRMINO DA PRESTAÇÃO',
            value: joined(' - ', value(ide, 'xMunFim'), value(ide, 'UFFim')),
            width: 30,
          },
        ]),
  ]
  return stack(sheetRow(sheet, first), sheetRow(sheet, route), passedStates(cte))
}

function tomadorWord(cte: PrintedCte): string | undefined {
  const code = tomadorCode(cte)
  if (cte.layout === 'gtve' && code === '1') return 'Destinatário'
  return codeText(codeTexts.toma, code)
}

// The states on the way of the CT-e OS.
function passedStates({ ide, layout, sheet }: PrintedCte): Block | undefined {
  const states = children(ide, 'infPercurso').map((step) => value(step, 'UFPer'))
  if (layout !== 'os' || states.length === 0) return undefined
  return sheetRow(sheet, [{ label: 'PERCURSO DO VEÍCULO', value: joined(' - ', ...states), width: 1 }])
}

/** PREVISÃO DO FLUXO DA CARGA, for any modal that has it (MOC CT-e 4.00, Anexo II, correlation table). */
export function cargoFlow({ infCte, sheet }: PrintedCte): Block | undefined {
  const fluxo = child(infCte, 'compl/fluxo')
  if (!fluxo || fluxo.children.length === 0) return undefined
  return sheetRow(sheet, [
    { label: 'PREVISÃO DO FLUXO DA CARGA - ORIGEM', value: value(fluxo, 'xOrig'), width: 34 },
    {
      label: 'PASSAGEM',
      value: joined(' / ', ...children(fluxo, 'pass').map((step) => value(step, 'xPass'))),
      width: 40,
    },
    { label: 'DESTINO', value: value(fluxo, 'xDest'), width: 28 },
    { label: 'ROTA', value: value(fluxo, 'xRota'), width: 14 },
  ])
}
