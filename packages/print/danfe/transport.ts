import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { entryOf, joined, quantity, taxId, weight } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { stack, title } from '../layout/block.ts'
import { type PrintSheet, sheetRow } from '../layout/sheet.ts'
import type { PrintedNfe } from './note.ts'

const freight: Record<string, string> = {
  0: '0 - Remetente',
  1: '1 - Destinatário',
  2: '2 - Terceiros',
  3: '3 - Próprio rem.',
  4: '4 - Próprio dest.',
  9: '9 - Sem frete',
}

/** Rows of volumes on the form when there is room. */
export const volumeRowsMax = 3

/** TRANSPORTADOR / VOLUMES TRANSPORTADOS with a row for each of the first volumes (MOC NF-e 7.0, Anexo II, 3.8). */
export function transport(note: PrintedNfe, volumeRows: number): Block {
  const { sheet } = note
  const transp = child(note.infNFe, 'transp')
  const carrier = child(transp, 'transporta')
  const vehicle = child(transp, 'veicTransp') ?? child(transp, 'reboque')
  const mode = value(transp, 'modFrete')
  const plate = value(vehicle, 'placa') ?? value(transp, 'vagao') ?? value(transp, 'balsa')
  const volumes = children(transp, 'vol').slice(0, volumeRows)
  // NT 2026.010, 4.4: the freight mode stays, the other rows are there with content.
  const leavesOut = note.newTaxes
  return stack(
    title('TRANSPORTADOR / VOLUMES TRANSPORTADOS'),
    sheetRow(sheet, [
      { label: 'RAZÃO SOCIAL', value: value(carrier, 'xNome'), width: 84 },
      { label: 'FRETE POR CONTA', value: entryOf(freight, mode) ?? mode, width: 30 },
      { label: 'CÓDIGO ANTT', value: value(vehicle, 'RNTC'), width: 20 },
      { label: 'PLACA DO VEÍCULO', value: plate, width: 22.9 },
      { label: 'UF', value: value(vehicle, 'UF'), width: 8.6, align: 'center' },
      { label: 'CNPJ / CPF', value: taxId(value(carrier, 'CNPJ'), value(carrier, 'CPF')), width: 40.2 },
    ]),
    ...(leavesOut && !['xEnder', 'xMun', 'UF', 'IE'].some((name) => value(carrier, name))
      ? []
      : [carrierAddress(carrier, sheet)]),
    ...(volumes.length > 0 || leavesOut ? volumes : [undefined]).map((volume) => volumeRow(volume, sheet)),
  )
}

function carrierAddress(carrier: XmlElement | undefined, sheet: PrintSheet): Block {
  return sheetRow(sheet, [
    { label: 'ENDEREÇO', value: value(carrier, 'xEnder'), width: 88.5 },
    { label: 'MUNICÍPIO', value: value(carrier, 'xMun'), width: 68.4 },
    { label: 'UF', value: value(carrier, 'UF'), width: 8.6, align: 'center' },
    { label: 'INSCRIÇÃO ESTADUAL', value: value(carrier, 'IE'), width: 40.2 },
  ])
}

function volumeRow(volume: XmlElement | undefined, sheet: PrintSheet): Block {
  return sheetRow(sheet, [
    { label: 'QUANTIDADE', value: value(volume, 'qVol'), width: 29.2, align: 'right' },
    { label: 'ESPÉCIE', value: value(volume, 'esp'), width: 30.5 },
    { label: 'MARCA', value: value(volume, 'marca'), width: 30.5 },
    { label: 'NUMERAÇÃO', value: value(volume, 'nVol'), width: 48.3 },
    { label: 'PESO BRUTO', value: weight(value(volume, 'pesoB')), width: 34.3, align: 'right' },
    { label: 'PESO LÍQUIDO', value: weight(value(volume, 'pesoL')), width: 33, align: 'right' },
  ])
}

/** Lines that do not fit in the transport block: further volumes, seals, further vehicles. */
export function transportOverflow(note: PrintedNfe, volumeRows: number): string[] {
  const transp = child(note.infNFe, 'transp')
  const volumes = children(transp, 'vol')
  const lines: string[] = []
  volumes.forEach((volume, i) => {
    const seals = joined(', ', ...children(volume, 'lacres').map((seal) => value(seal, 'nLacre')))
    const details = i < volumeRows ? undefined : volumeText(volume)
    const text = joined(', ', details, seals && `LACRES: ${seals}`)
    if (text) lines.push(`VOLUME ${i + 1}: ${text}`)
  })
  const shown = child(transp, 'veicTransp') ? 0 : 1
  for (const trailer of children(transp, 'reboque').slice(shown)) {
    const antt = value(trailer, 'RNTC')
    const text = joined(' ', value(trailer, 'placa'), value(trailer, 'UF'), antt && `ANTT ${antt}`)
    if (text) lines.push(`REBOQUE: ${text}`)
  }
  return lines
}

function volumeText(volume: XmlElement): string | undefined {
  const named = (label: string, text: string | undefined) => (text === undefined ? undefined : `${label} ${text}`)
  return joined(
    ', ',
    named('QUANTIDADE', quantity(value(volume, 'qVol'))?.replace(/,00$/, '')),
    named('ESPÉCIE', value(volume, 'esp')),
    named('MARCA', value(volume, 'marca')),
    named('NUMERAÇÃO', value(volume, 'nVol')),
    named('PESO BRUTO', weight(value(volume, 'pesoB'))),
    named('PESO LÍQUIDO', weight(value(volume, 'pesoL'))),
  )
}
