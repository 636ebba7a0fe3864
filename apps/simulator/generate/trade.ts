import { openCertificationAuthority } from '../certificates.ts'
import { createCast, type Taxpayer, taxpayerOf } from './cast.ts'
import type { NamedCompany } from './generator.ts'
import { createRandom } from './random.ts'
import { openSigners } from './signers.ts'
import { groupedFreight, officeMoment, purchase, type StoryStage } from './stories.ts'

const documentsPerIssuer = 50
const issuersOfCast = 16
const perStory = 1.4

/**
 * What companies with which `company` has traded for long sent it between two instants, about `count` notes and bills of freight and their events, the oldest first: of each of the products that a
 * supplier sells the code stays, and the price nearly. In production (`tpAmb` 1), signed with certificates that `directory` keeps.
 */
export async function steadyTrade({
  directory,
  company,
  from,
  until,
  count,
}: {
  directory: string
  company: NamedCompany
  from: number
  until: number
  count: number
}): Promise<string[]> {
  const certification = await openCertificationAuthority(directory, until)
  const signers = await openSigners(directory, certification, until)
  const casts = Math.max(1, Math.round(count / documentsPerIssuer / issuersOfCast))
  const files: string[] = []
  for (let seed = 1; seed <= casts; seed++) {
    const random = createRandom(`trade:${seed}`)
    const cast = createCast(seed)
    const stage: StoryStage = {
      random,
      cast: { ...cast, suppliers: cast.suppliers.map(steady) },
      signers,
      tpAmb: 1,
      company: taxpayerOf(company, seed),
      until,
      files: [],
      numbered: new Set(),
    }
    const stories = Math.ceil(count / casts / perStory)
    for (let n = 0; n < stories; n++) {
      const story = n % 20 === 0 ? groupedFreight : purchase
      await story(stage, officeMoment(random, from, until - 60_000))
    }
    files.push(...stage.files.map((bytes) => Buffer.from(bytes).toString()))
  }
  const issued = (xml: string) => Date.parse(/<(?:dhEmi|dhEvento)>([^<]+)</.exec(xml)?.[1] ?? '') || 0
  return files.sort((one, other) => issued(one) - issued(other))
}

function steady(supplier: Taxpayer): Taxpayer {
  const products = supplier.segment.products.map((product) => {
    const random = createRandom(`${supplier.cnpj} ${product.xProd}`)
    const price = random.integer(...product.price)
    const code = `${product.NCM.slice(0, 4)}-${random.digits(4)}`
    return { ...product, code, price: [Math.round(price * 0.98), Math.round(price * 1.02)] as [number, number] }
  })
  return { ...supplier, segment: { ...supplier.segment, products } }
}
