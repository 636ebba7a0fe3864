import type { Reform } from '@vigia/contract/documents'
import { nfe } from '@vigia/dfe/families/nfe'
import { type CteDetails, type NfeDetails, readDetails } from '@vigia/dfe/read'
import { cteItems, cteSections } from './cte-texts.ts'
import { eventText } from './event-texts.ts'
import { nfeItems, nfeSections } from './nfe-texts.ts'
import { reformOf } from './reform-texts.ts'
import { type PanelItem, type Section, section } from './texts.ts'

export interface Said {
  sections: Section[]
  items: PanelItem[]
  references: { relation: string; chave: string }[]
  names: Map<string, string>
  protocol: string | null
  /** Null of a document before the reform that says nothing of it. */
  reform: Reform | null
  events: Map<string, string>
}

/** A document and those of its events that say more than their names, by their ids. */
export interface Files {
  content: Uint8Array
  events: readonly (readonly [id: string, content: Uint8Array])[]
}

/** Contents of a document and its events; empty when people cannot read it. */
export function saidOf({ content, events: files }: Files): Said {
  const said = readDetails(content)
  const events = new Map(
    files.flatMap(([id, xml]) => {
      const text = eventText(xml)
      return text === null ? [] : [[id, text] as const]
    }),
  )
  if (said === null)
    return { sections: [], items: [], references: [], names: new Map(), protocol: null, reform: null, events }
  return {
    events,
    reform: reformOf(said),
    sections: [
      ...(said.type === nfe.id ? nfeSections(said) : cteSections(said)),
      ...section('Arquivo', [['Observação', said.problems.map(({ message }) => message).join(' ')]]),
    ],
    items: said.type === nfe.id ? nfeItems(said) : cteItems(said),
    references: said.references.map(({ by, chave }) => ({ relation: relationOf(by, said), chave })),
    names: namesOf(said),
    protocol: said.infProt.nProt ?? null,
  }
}

function namesOf(said: NfeDetails | CteDetails): Map<string, string> {
  const parties =
    said.type === nfe.id ? [said.emit, said.dest, said.transporta] : said.parties.map(({ fields }) => fields)
  return new Map(
    parties.flatMap(({ CNPJ, CPF, xNome }) => {
      const taxId = CNPJ ?? CPF
      return taxId && xNome ? [[taxId, xNome] as const] : []
    }),
  )
}

// By the elements that name them; the same ones have had several spellings.
const relations: [by: RegExp, relation: string][] = [
  [/^NFref\/refNFe(Sig)?$/, 'Nota referenciada'],
  [/^NFref\/refCTe$/, 'CT-e referenciado'],
  [/^gPagAntecipado\//, 'Documento do pagamento antecipado'],
  [/^gCompraGov\//, 'Documento anterior da compra governamental'],
  [/^DFeReferenciado\//, 'Documento referenciado por um item'],
  [/^exportInd\//, 'Nota da exportação indireta'],
  [/^infNFe\//, 'Nota transportada'],
  [/^infNFeTranspParcial\//, 'Nota transportada em parte'],
  [/^infDCe\//, 'Declaração de conteúdo transportada'],
  [/^(idDocAntEle|infDocAnt)\//, 'CT-e anterior'],
  [/^infC[tT]eSub\//, 'CT-e substituído por este'],
  [/^infC[tT]eComp\//, 'CT-e complementado por este'],
  [/^infC[tT]eAnu\//, 'CT-e anulado por este'],
  [/^infCTeMultimodal\//, 'CT-e do transporte multimodal'],
  [/\/refCTeCanc$/, 'CT-e cancelado que este repõe'],
  [/^infGTVe\//, 'GTV-e'],
  [/^infDocRef\//, 'Bilhete de passagem'],
]
const returns = '4'

function relationOf(by: string, said: NfeDetails | CteDetails): string {
  const relation = relations.find(([pattern]) => pattern.test(by))?.[1] ?? 'Documento citado'
  const returned = said.type === nfe.id && said.ide.finNFe === returns && relation === 'Nota referenciada'
  return returned ? 'Nota devolvida por esta' : relation
}
