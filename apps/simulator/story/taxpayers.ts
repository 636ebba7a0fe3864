import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { type Taxpayer, taxpayerOf } from '../generate/cast.ts'
import type { SoldLine } from '../generate/nfe-items.ts'
import { places } from '../generate/places.ts'
import type { SoldProduct } from '../generate/products.ts'
import { estranhos, type Linha } from './cases.ts'
import { clientes, type Endereco, type Fornecedor, fornecedores, type Produto, transportadoras } from './office.ts'

// The parties of the story as the builders of documents know them.

const seed = 90

const suppliers: Record<string, Fornecedor> = { ...fornecedores, ...estranhos }

/** A supplier of the office or of the cases. */
export function supplierOf(name: string): Fornecedor {
  return known(suppliers[name], name)
}

export const sellers = named(suppliers, (one) => ({
  ...partyOf(cnpjOf(one.raiz), one),
  crt: one.regime === 'normal' ? '3' : '1',
  segment: { names: [], ipi: Math.round((one.ipi ?? 0) * 10_000), products: one.produtos.map(soldProduct) },
}))
export const carriers = named(transportadoras, (one) => partyOf(cnpjOf(one.raiz), one))
export const clients = named(clientes, (one) => partyOf(one.cnpj, one))

/** Establishment under the CNPJ of another one at an address of its own. */
export function movedTo(party: Taxpayer, { ie, ...address }: Endereco & { ie: string }): Taxpayer {
  return { ...party, ...placed(party, address), ie }
}

/** Lines of a note with the products of its seller; `level` moves the usual prices. */
export function linesOf(seller: string, lines: readonly Linha[], level = 1): (SoldLine & { weight: number })[] {
  const { produtos } = supplierOf(seller)
  return lines.map(([name, quantity, price]) => {
    const product = known(
      produtos.find(({ nome }) => nome === name),
      name,
    )
    const usual = product.preco * level
    return {
      product: soldProduct(product),
      quantity,
      price: Math.round((price ?? usual) * 100),
      weight: Math.round(quantity * product.peso * 1_000),
    }
  })
}

/** The value of a table, of which a name asks for one. */
export function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`the story knows no ${name}`)
  return found
}

function named<T>(table: Record<string, T>, make: (one: T) => Taxpayer): (name: string) => Taxpayer {
  const made = new Map(Object.entries(table).map(([name, one]) => [name, make(one)]))
  return (name) => known(made.get(name), name)
}

function cnpjOf(root: string): string {
  const first12 = `${root}0001`
  return first12 + cnpjCheckDigits(first12)
}

function partyOf(cnpj: string, { nome, ...address }: Endereco & { nome: string }): Taxpayer {
  const party = taxpayerOf({ cnpj, nome, uf: address.uf }, seed)
  return { ...party, ...placed(party, address), fantasia: undefined }
}

function placed(party: Taxpayer, { municipio, uf }: Endereco): Pick<Taxpayer, 'place' | 'cep' | 'fone'> {
  const place = known(
    places.find((one) => one.xMun === municipio && one.uf === uf),
    municipio,
  )
  return { place, cep: place.cep + party.cep.slice(-3), fone: place.ddd + party.fone.slice(2) }
}

function soldProduct({ nome, ncm, unidade, preco, quantidade, st }: Produto): SoldProduct {
  const cents = Math.round(preco * 100)
  // The same code in each note, by which later prices are compared.
  const code = `${ncm.slice(0, 4)}${String(nome.length + [...nome].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)).slice(-4)}`
  return { xProd: nome, NCM: ncm, unit: unidade, code, price: [cents, cents], quantity: quantidade, st }
}
