import type { CteContents } from '@vigia/dfe/read'
import { isNote } from '../alerts/values.ts'

/** CT-e data for the audit. Amounts are decimal text in reais, cities IBGE codes. */
export interface Trip {
  chave: string
  /** As written, with its offset. */
  issuedAt: string
  /** Authorised, not cancelled, and not replaced by a substituto. */
  standing: boolean
  carrier: { taxId: string; name: string }
  /** Tomador: who pays. */
  payer?: string
  recipient?: string
  tpCTe: string
  tpServ: string
  from: Place
  to: Place
  vTPrest: string
  vCarga?: string
  /** Gross weight of the cargo in kilos. */
  kilos?: number
  /** Chaves of the NF-e that it carries. */
  notes: string[]
  /** How many documents it cites, CT-e of the way before among them. */
  cites: number
}

export interface Place {
  uf: string
  cMun: string
  name?: string
}

/** Data for the audit of an NF-e that a CT-e cites. */
export interface Note {
  chave: string
  standing: boolean
  issuer: string
  recipient?: string
  amount: string
  tpNF?: string
  /** Undefined of a resumo, which does not say it. */
  modFrete?: string
}

/** Trip data from the contents of a CT-e; the rest comes from its current state. */
export type TripInside = Omit<Trip, 'chave' | 'issuedAt' | 'standing' | 'recipient'>

export function tripOf({ head, issuer, payer, vTPrest, cargo, measures, cited }: CteContents): TripInside {
  return {
    carrier: { taxId: issuer.CNPJ ?? issuer.CPF ?? '', name: issuer.xNome ?? '' },
    payer,
    tpCTe: head.tpCTe ?? '0',
    tpServ: head.tpServ ?? '0',
    from: { uf: head.UFIni ?? '', cMun: head.cMunIni ?? '', name: head.xMunIni },
    to: { uf: head.UFFim ?? '', cMun: head.cMunFim ?? '', name: head.xMunFim },
    vTPrest: vTPrest ?? '0',
    vCarga: cargo.vCarga,
    kilos: kilosOf(measures),
    cites: cited.length,
    notes: [...new Set(cited.map(({ chave }) => chave).filter(isNote))],
  }
}

// cUnid 01 kilos, 02 tons (MOC CT-e 4.00, infQ). A cubed weight is no weight; the gross one is meant where several are named.
function kilosOf(measures: readonly { cUnid?: string; tpMed?: string; qCarga?: string }[]): number | undefined {
  const weights = measures.flatMap(({ cUnid, tpMed = '', qCarga }) => {
    const factor = cUnid === '01' ? 1 : cUnid === '02' ? 1_000 : 0
    const kilos = Number(qCarga ?? 0) * factor
    return kilos > 0 && !/cub/i.test(tpMed) ? { kilos, isGross: /bruto|real|declarado/i.test(tpMed) } : []
  })
  const gross = weights.filter(({ isGross }) => isGross)
  const best = gross.length > 0 ? gross : weights
  return best.length > 0 ? Math.max(...best.map(({ kilos }) => kilos)) : undefined
}
