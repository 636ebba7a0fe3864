import { children, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import type { Correction } from '@vigia/sefaz/events'
import { AppError } from '../platform/errors.ts'
import { cleanText } from './justifications.ts'

// MOC CT-e 4.00, item 13: the authority refuses them with 681. What it may accept (CNPJ of toma4, rem and dest) is left to it.
const fixed = new Set(
  Object.entries({
    infCte: 'versao Id',
    ide: 'cUF cCT mod serie nCT tpEmis cDV tpAmb dhEmi modal',
    toma3: 'toma',
    emit: 'CNPJ IE',
    vPrest: 'vTPrest',
    Comp: 'vComp',
    vPresComp: 'vTPrest',
    compComp: 'vComp',
    infNFe: 'chave',
    ICMS00: 'CST vBC pICMS vICMS',
    ICMS20: 'CST pRedBC vBC pICMS vICMS',
    ICMS45: 'CST',
    ICMS60: 'CST vBCSTRet vICMSSTRet pICMSSTRet vCred',
    ICMS90: 'CST pRedBC vBC pICMS vICMS vCred',
    ICMSOutraUF: 'CST pRedBCOutraUF vBCOutraUF pICMSOutraUF vICMSOutraUF',
    ICMSSN: 'indSN CST',
  }).flatMap(([group, names]) => names.split(' ').map((name) => `${group}/${name}`.toLowerCase())),
)

// valorAlterado of evCCeCTe_v4.00.xsd.
const valueMax = 500

/** The corrections that a person requests, one free text alone being the observation of the CT-e; refuses by name what no letter may correct. */
export function correctionsOf(text: string, structured: readonly Correction[] | undefined): Correction[] {
  const asked = structured ?? [{ grupoAlterado: 'compl', campoAlterado: 'xObs', valorAlterado: text }]
  const problems: string[] = []
  const seen = new Set<string>()
  for (const correction of asked) {
    const name = `${correction.grupoAlterado}/${correction.campoAlterado}`
    if (fixed.has(name.toLowerCase()))
      problems.push(`O campo ${name} não pode ser corrigido por Carta de Correção (MOC CT-e, item 13).`)
    if (seen.has(placeOf(correction))) problems.push(`O campo ${name} aparece duas vezes nas correções.`)
    seen.add(placeOf(correction))
  }
  if (problems.length > 0) throw new AppError('invalid-input', problems.join(' '), { errors: problems })
  return asked.map((correction) => {
    const valorAlterado = cleanText(correction.valorAlterado)
    if (valorAlterado === '') throw new AppError('invalid-input', 'O novo valor de uma correção está vazio.')
    if (valorAlterado.length > valueMax) {
      const problem = `O novo valor de uma correção pode ter ${valueMax} caracteres, e este fica com ${valorAlterado.length} nos sinais que a SEFAZ aceita.`
      throw new AppError('invalid-input', problem)
    }
    return { ...correction, valorAlterado }
  })
}

/** The corrections of a new letter: it replaces the one before, so it repeats those that it does not correct again. */
export function joinCorrections(before: readonly Correction[], asked: readonly Correction[]): Correction[] {
  const joined = new Map(before.map((correction) => [placeOf(correction), correction]))
  for (const correction of asked) joined.set(placeOf(correction), correction)
  return [...joined.values()]
}

function placeOf({ grupoAlterado, campoAlterado, nroItemAlterado }: Correction): string {
  return `${grupoAlterado}/${campoAlterado}/${nroItemAlterado ?? ''}`
}

export function readCorrections(procEventoCTe: Uint8Array): Correction[] {
  const found: Correction[] = []
  const visit = (element: XmlElement) => {
    for (const one of children(element, 'infCorrecao')) {
      const item = value(one, 'nroItemAlterado')
      found.push({
        grupoAlterado: value(one, 'grupoAlterado') ?? '',
        campoAlterado: value(one, 'campoAlterado') ?? '',
        valorAlterado: value(one, 'valorAlterado') ?? '',
        ...(item === undefined ? {} : { nroItemAlterado: Number(item) }),
      })
    }
    for (const inner of element.children) visit(inner)
  }
  visit(openDocument(procEventoCTe))
  return found
}
