import { listPath } from '@vigia/contract/codes'
import type { CompanyRow } from '@vigia/contract/companies'
import type { SavedView } from '@vigia/contract/views'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { findKey, keyOf } from '@vigia/dfe/families/lookup'
import { supplierAddress } from '../../lib/addresses.ts'
import { type DocumentKind, documentKinds, kindOf, kinds } from '../../lib/kinds.ts'
import { bareCnpj, hasWords, isPartOfCnpj, plain } from '../../lib/matching.ts'
import { hasPlans } from '../../lib/site.ts'

/** Somewhere to go. */
export interface PaletteEntry {
  id: string
  group: 'Documentos' | 'Telas' | 'Visões' | 'Empresas' | 'Emitentes'
  label: string
  detail: string
  to: string
}

interface Sources {
  views: readonly Pick<SavedView, 'idVisao' | 'tipoDFe' | 'nome' | 'endereco'>[]
  companies: readonly CompanyRow[]
  /** Issuers that the server suggests for the text. */
  issuers: readonly { nome: string; cnpjCpf: string }[]
}

const screens: readonly (readonly [label: string, to: string, words: string])[] = [
  ['Dashboard', '/dashboard', 'inicio painel resumo'],
  ...kinds.map(({ label, path, keywords }) => [label, path, keywords] as const),
  ['Empresas', '/empresas', 'cnpj captura'],
  ['Cadastrar empresa', '/empresas/nova', 'nova certificado'],
  ['Certificados que vencem em 30 dias', '/empresas?so=certificado', 'validade'],
  ['Empresas com problema', '/empresas?so=problema', 'falha parada'],
  ['Relatórios', '/relatorios', 'compras fornecedor produto preco cfop ncm planilha emitidas fretes email mensal'],
  ['Alertas', '/alertas', 'suspeitas fraude duplicada notas suspeitas'],
  ['Regras dos alertas', '/alertas/regras', 'conhecidos precisao ligar desligar'],
  ['Respostas por regra', '/respostas', 'ciencia automatica regras manifestacao'],
  ['Aprovações pendentes', '/aprovacoes', 'aprovar aprovacao duas pessoas quatro olhos valor liberar envio retidas'],
  ['IBS e CBS', '/reforma', 'reforma tributaria imposto seletivo is cclasstrib'],
  ['Prazos', '/prazos', 'agenda calendario respostas'],
  ['Vencimentos a pagar', '/vencimentos', 'parcelas duplicatas boletos pagar pagas fornecedores'],
  ['Ajuda', '/help', 'duvidas'],
  ['Minha conta', '/conta', 'nome e-mail'],
  ...(hasPlans ? [['Plano', '/conta#plano', 'preco pagamento'] as const] : []),
  ['Senha', '/conta#senha', 'trocar'],
  ['Sessões', '/conta#sessoes', 'aparelhos'],
  ['Equipe', '/equipe', 'pessoas convidar usuarios papeis acesso'],
  ['Integrações', '/integracoes', 'chaves api webhooks erp sistemas'],
  ['Auditoria', '/auditoria', 'historico quem'],
  ['Auditoria de fretes', '/fretes', 'frete transportadora cobranca desacordo dobro tomador cte'],
  ['Trabalhos do sistema', '/sistema', 'fila falhas'],
]

const companiesMax = 5

/**
 * Targets for typed text, likeliest first: documents, screens, views, companies, issuers; screens
 * before documents if a screen's name matches.
 */
export function paletteEntries(text: string, { views, companies, issuers }: Sources): PaletteEntry[] {
  const typed = plain(text.trim())
  const named = views
    .filter(({ nome }) => hasWords(nome, typed))
    .map(
      ({ idVisao, tipoDFe, nome, endereco }): PaletteEntry => ({
        id: `view-${idVisao}`,
        group: 'Visões',
        label: nome,
        detail: '',
        to: `${listPath(tipoDFe)}?${endereco}`,
      }),
    )
  if (typed === '') return [...screenEntries(''), ...named]
  const own = companies
    .filter(({ razaoSocial, cnpj }) => hasWords(razaoSocial, typed) || isPartOfCnpj(cnpj, typed))
    .slice(0, companiesMax)
  const found = screenEntries(typed)
  const isCalledSo = ({ label }: PaletteEntry) => plain(label).startsWith(typed)
  const documents = documentEntries(text.trim())
  return [
    ...(found.some(isCalledSo)
      ? [...found.filter(isCalledSo), ...found.filter((one) => !isCalledSo(one)), ...documents]
      : [...documents, ...found]),
    ...named,
    ...own.map(
      ({ id, razaoSocial, cnpj }): PaletteEntry => ({
        id: `company-${id}`,
        group: 'Empresas',
        label: razaoSocial,
        detail: formatCnpj(bareCnpj(cnpj)),
        to: inList(documentKinds.nfe, { empresa: id }),
      }),
    ),
    ...issuers.map(
      ({ nome, cnpjCpf }, index): PaletteEntry => ({
        id: `issuer-${index}`,
        group: 'Emitentes',
        label: nome,
        detail: cnpjCpf.length === 11 ? formatCpf(cnpjCpf) : formatCnpj(cnpjCpf),
        to: supplierAddress(cnpjCpf),
      }),
    ),
  ]
}

function documentEntries(text: string): PaletteEntry[] {
  const found = (id: string, kind: DocumentKind, label: string, busca: string): PaletteEntry => ({
    id,
    group: 'Documentos',
    label,
    detail: '',
    to: inList(kind, { busca }),
  })
  const chave = findKey(text)
  if (chave && keyOf(chave).valid) return [found('chave', kindOf(chave), kindOf(chave).openOne, chave)]
  return kinds.map((kind) => found(kind.type, kind, `Procurar “${text}” ${kind.among}`, text))
}

function screenEntries(typed: string): PaletteEntry[] {
  return screens
    .filter(([label, , words]) => hasWords(`${label} ${words}`, typed))
    .map(([label, to]) => ({ id: `screen-${to}`, group: 'Telas', label, detail: '', to }))
}

// For any month, because a search for a document knows no period.
function inList({ path }: DocumentKind, params: Record<string, string>): string {
  return `${path}?${new URLSearchParams({ ...params, periodo: 'todos' })}`
}
