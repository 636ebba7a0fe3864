import { child, value } from '@vigia/dfe/document'
import { money } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { stack, title } from '../layout/block.ts'
import { sheetRow } from '../layout/sheet.ts'
import type { PrintedNfe } from './note.ts'

/** CÁLCULO DO ISSQN, when the file has the total (MOC NF-e 7.0, Anexo II, 3.3.3). */
export function issqn({ infNFe, sheet }: PrintedNfe): Block | undefined {
  const total = child(infNFe, 'total/ISSQNtot')
  if (!total) return undefined
  return stack(
    title('CÁLCULO DO ISSQN'),
    sheetRow(sheet, [
      { label: 'INSCRIÇÃO MUNICIPAL', value: value(infNFe, 'emit/IM'), width: 1 },
      { label: 'VALOR TOTAL DOS SERVIÇOS', value: money(value(total, 'vServ')), width: 1, align: 'right' },
      { label: 'BASE DE CÁLCULO DO ISSQN', value: money(value(total, 'vBC')), width: 1, align: 'right' },
      { label: 'VALOR DO ISSQN', value: money(value(total, 'vISS')), width: 1, align: 'right' },
    ]),
  )
}
