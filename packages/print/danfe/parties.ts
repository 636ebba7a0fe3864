import { child, value } from '@vigia/dfe/document'
import { cep, date, joined, phone, taxId, time } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { stack, title } from '../layout/block.ts'
import { street } from '../layout/issuer.ts'
import { sheetRow } from '../layout/sheet.ts'
import type { PrintedNfe } from './note.ts'

/** DESTINATÁRIO / REMETENTE; its boxes stay when the file has no recipient (MOC NF-e 7.0, Anexo II, 3.8). */
export function destinatario({ infNFe, ide, sheet }: PrintedNfe): Block {
  const dest = child(infNFe, 'dest')
  const address = child(dest, 'enderDest')
  const leaves = value(ide, 'dhSaiEnt') ?? value(ide, 'dSaiEnt')
  const abroad = value(address, 'UF') === 'EX' || value(dest, 'idEstrangeiro') !== undefined
  const id = taxId(value(dest, 'CNPJ'), value(dest, 'CPF')) ?? value(dest, 'idEstrangeiro')
  const city = joined(' - ', value(address, 'xMun'), abroad ? value(address, 'xPais') : undefined)
  return stack(
    title('DESTINATÁRIO / REMETENTE'),
    sheetRow(sheet, [
      { label: 'NOME / RAZÃO SOCIAL', value: value(dest, 'xNome'), width: 121.2 },
      { label: 'CNPJ / CPF', value: id, width: 53.3 },
      {
        label: 'DATA DA EMISSÃO',
        value: date(value(ide, 'dhEmi') ?? value(ide, 'dEmi')),
        width: 31.2,
        align: 'center',
      },
    ]),
    sheetRow(sheet, [
      { label: 'ENDEREÇO', value: street(address), width: 99.6 },
      { label: 'BAIRRO / DISTRITO', value: value(address, 'xBairro'), width: 48.3 },
      { label: 'CEP', value: cep(value(address, 'CEP')), width: 26.7, align: 'center' },
      { label: 'DATA DA SAÍDA/ENTRADA', value: date(leaves), width: 31.2, align: 'center' },
    ]),
    sheetRow(sheet, [
      { label: 'MUNICÍPIO', value: city, width: 69.1 },
      { label: 'FONE / FAX', value: phone(value(address, 'fone')), width: 40.6 },
      { label: 'UF', value: value(address, 'UF'), width: 11.4, align: 'center' },
      { label: 'INSCRIÇÃO ESTADUAL', value: value(dest, 'IE'), width: 53.3 },
      {
        label: 'HORA DA SAÍDA/ENTRADA',
        value: time(value(ide, 'dhSaiEnt')) ?? time(value(ide, 'hSaiEnt')),
        width: 31.2,
        align: 'center',
      },
    ]),
  )
}

/** INFORMAÇÕES DO LOCAL DE RETIRADA or DE ENTREGA, when the file has the group (NT 2018.005). */
export function place(note: PrintedNfe, group: 'retirada' | 'entrega'): Block | undefined {
  const { sheet } = note
  const at = child(note.infNFe, group)
  if (!at) return undefined
  return stack(
    title(`INFORMAÇÕES DO LOCAL DE ${group.toUpperCase()}`),
    sheetRow(sheet, [
      { label: 'NOME / RAZÃO SOCIAL', value: value(at, 'xNome'), width: 123.2 },
      { label: 'CNPJ / CPF', value: taxId(value(at, 'CNPJ'), value(at, 'CPF')), width: 41 },
      { label: 'INSCRIÇÃO ESTADUAL', value: value(at, 'IE'), width: 41.5 },
    ]),
    sheetRow(sheet, [
      { label: 'ENDEREÇO', value: street(at), width: 116 },
      { label: 'BAIRRO / DISTRITO', value: value(at, 'xBairro'), width: 63 },
      { label: 'CEP', value: cep(value(at, 'CEP')), width: 26.7, align: 'center' },
    ]),
    sheetRow(sheet, [
      { label: 'MUNICÍPIO', value: value(at, 'xMun'), width: 140 },
      { label: 'UF', value: value(at, 'UF'), width: 12, align: 'center' },
      { label: 'FONE / FAX', value: phone(value(at, 'fone')), width: 53.7 },
    ]),
  )
}

/** The same data in one sentence, for a sheet without room for the block. */
export function placeText(note: PrintedNfe, group: 'retirada' | 'entrega'): string | undefined {
  const at = child(note.infNFe, group)
  if (!at) return undefined
  const ie = value(at, 'IE')
  const postal = cep(value(at, 'CEP'))
  const telephone = phone(value(at, 'fone'))
  return joined(
    ' - ',
    `LOCAL DE ${group.toUpperCase()}: ${taxId(value(at, 'CNPJ'), value(at, 'CPF')) ?? ''}`,
    value(at, 'xNome'),
    ie && `IE ${ie}`,
    street(at),
    value(at, 'xBairro'),
    joined('/', value(at, 'xMun'), value(at, 'UF')),
    postal && `CEP ${postal}`,
    telephone && `FONE ${telephone}`,
  )
}
