import { value } from '@vigia/dfe/document'
import { dataCode } from '../layout/barcode.ts'
import type { PrintedNfe } from './note.ts'

/** The 36 digits of the second bar code of FS and FS-DA (MOC NF-e 7.0, Anexo II, dados adicionais do código de barras). */
export function additionalDataCode({ infNFe, ide }: PrintedNfe): string {
  return dataCode({
    uf: value(infNFe, 'dest/enderDest/UF'),
    tpEmis: value(ide, 'tpEmis'),
    id: value(infNFe, 'dest/CNPJ') ?? value(infNFe, 'dest/CPF'),
    amount: value(infNFe, 'total/ICMSTot/vNF'),
    ownIcms: value(infNFe, 'total/ICMSTot/vICMS'),
    substitution: value(infNFe, 'total/ICMSTot/vST'),
    issued: value(ide, 'dhEmi') ?? value(ide, 'dEmi'),
  })
}
