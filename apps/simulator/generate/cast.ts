import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { type Municipality, placeIn, places } from './places.ts'
import { type BusinessSegment, nameWords, segments } from './products.ts'
import { createRandom, type Random } from './random.ts'

/** A company of the generated documents. */
export interface Taxpayer {
  cnpj: string
  nome: string
  fantasia?: string
  ie: string
  place: Municipality
  xLgr: string
  nro: string
  xBairro: string
  cep: string
  fone: string
  email: string
  /** 1 Simples Nacional, 3 regime normal. */
  crt: '1' | '3'
  segment: BusinessSegment
}

/** All taxpayers of generated documents; equal for equal seeds. */
export interface Cast {
  suppliers: Taxpayer[]
  carriers: Taxpayer[]
  customers: Taxpayer[]
  accountant: Taxpayer
}

export function createCast(seed: number): Cast {
  const random = createRandom(`cast:${seed}`)
  const words = [...nameWords]
  const take = () => words.splice(random.integer(0, words.length - 1), 1)[0] ?? random.pick(nameWords)
  // Letters are given to companies registered since July 2026; every fourth one is that new.
  const suppliers = Array.from({ length: 16 }, (_, index) => {
    const segment = segments[index % segments.length] ?? random.pick(segments)
    return taxpayer(
      random,
      random.pick(segment.names).replace('*', take()),
      random.pick(places),
      index % 4 === 1,
      segment,
    )
  })
  const carriers = ['RODOVIÁRIO * LTDA', 'TRANSPORTES * S.A.', '* LOGÍSTICA LTDA', 'EXPRESSO * LTDA'].map(
    (name, index) =>
      taxpayer(random, name.replace('*', take()), random.pick(places), index === 2, random.pick(segments)),
  )
  const customers = Array.from({ length: 6 }, (_, index) => {
    const segment = random.pick(segments)
    const name = random.pick(segment.names).replace('*', random.pick(nameWords))
    return taxpayer(random, name, random.pick(places), index % 3 === 2, segment)
  })
  const accountant = taxpayer(random, 'CONTABILIDADE PRAÇA DA SÉ S/S LTDA', placeIn('SP'), true, random.pick(segments))
  return { suppliers, carriers, customers, accountant }
}

/** A taxpayer of the generator for a company that was named from outside. */
export function taxpayerOf(company: { cnpj: string; nome: string; uf: string }, seed: number): Taxpayer {
  const random = createRandom(`company:${seed}:${company.cnpj}`)
  const made = taxpayer(random, company.nome.slice(0, 60), placeIn(company.uf), false, random.pick(segments))
  return { ...made, cnpj: company.cnpj, crt: '3' }
}

/** A new company, made at random. */
export function inventCompany(random: Random): { cnpj: string; nome: string; uf: string } {
  const nome = random.pick(random.pick(segments).names).replace('*', random.pick(nameWords))
  return { cnpj: random.chance(0.4) ? cnpjWithLetters(random) : numericCnpj(random), nome, uf: random.pick(places).uf }
}

const streets = [
  'RUA DAS LARANJEIRAS',
  'AVENIDA BRASIL',
  'RUA QUINZE DE NOVEMBRO',
  'AVENIDA DAS INDÚSTRIAS',
  'RODOVIA BR 101',
]
const districts = ['CENTRO', 'DISTRITO INDUSTRIAL', 'VILA NOVA', 'JARDIM AMÉRICA', 'SANTO ANTÔNIO']

function taxpayer(
  random: Random,
  nome: string,
  place: Municipality,
  letters: boolean,
  segment: BusinessSegment,
): Taxpayer {
  const cnpj = letters ? cnpjWithLetters(random) : numericCnpj(random)
  return {
    cnpj,
    nome: nome.slice(0, 60),
    fantasia: random.chance(0.5) ? nome.replace(/ (?:LTDA|S\.A\.)$/, '').slice(0, 60) : undefined,
    ie: ieOf(random, place.uf),
    place,
    xLgr: random.pick(streets),
    nro: String(random.integer(10, 4900)),
    xBairro: random.pick(districts),
    cep: `${place.cep}${random.digits(3)}`,
    fone: `${place.ddd}3${random.digits(7)}`,
    email: 'fiscal@example.com',
    crt: random.chance(0.25) ? '1' : '3',
    segment,
  }
}

// Bases that begin with 98 do not exist: no real company is named by accident.
function numericCnpj(random: Random): string {
  const first12 = `98${random.digits(6)}0001`
  return first12 + cnpjCheckDigits(first12)
}

function cnpjWithLetters(random: Random): string {
  const symbols = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
  const body = Array.from({ length: 5 }, () => symbols[random.integer(0, 35)]).join('')
  const letter = symbols[random.integer(10, 35)]
  const first12 = `98${letter}${body}000${random.chance(0.5) ? '1' : 'A'}`
  return first12 + cnpjCheckDigits(first12)
}

const ieLengths: Record<string, number> = {
  SP: 12,
  MG: 13,
  RS: 10,
  PR: 10,
  RO: 14,
  AC: 13,
  DF: 13,
  MT: 11,
  RJ: 8,
  BA: 9,
}

function ieOf(random: Random, uf: string): string {
  return `${random.integer(1, 9)}${random.digits((ieLengths[uf] ?? 9) - 1)}`
}
