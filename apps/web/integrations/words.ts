import type { Scope } from '@vigia/contract/route'

/** Texts of the scopes of an API key. */
export const scopeWords: Record<Scope, { label: string; about: string }> = {
  'documentos:ler': {
    label: 'Ler documentos',
    about: 'Listas, detalhes, XML e PDF de NF-e e CT-e, os números do mês e o que mudou.',
  },
  'documentos:responder': {
    label: 'Responder documentos',
    about: 'Envia manifestações e eventos à SEFAZ em nome das empresas, sem pedir senha.',
  },
  'empresas:ler': {
    label: 'Ler empresas',
    about: 'Cadastro, certificado e captura de cada empresa.',
  },
  'empresas:gerir': {
    label: 'Gerir empresas',
    about: 'Cadastra, muda e arquiva empresas, envia e remove certificados, sem pedir senha.',
  },
  exportar: {
    label: 'Exportar',
    about: 'Baixa muitos documentos de uma vez: ZIP, planilha e PDF.',
  },
}

/** Name of a scope; the id if the scope is unknown here. */
export const scopeLabel = (scope: string): string => scopeWords[scope as Scope]?.label ?? scope

const kinds: Record<string, string> = {
  'documento-novo': 'Documento novo',
  'xml-completo': 'Chegou o XML completo',
  situacao: 'A situação mudou',
  cancelamento: 'Cancelamento',
  resposta: 'Resposta da SEFAZ a uma manifestação',
  teste: 'Teste',
}

export const kindLabel = (kind: string): string => kinds[kind] ?? kind

/** Text for the HTTP status of a webhook response. */
export function statusWords(status: number): string {
  if (status < 300) return 'recebeu'
  if (status < 400) return 'mandou para outro endereço, o que não seguimos'
  if (status === 401 || status === 403) return 'não nos deixou entrar'
  if (status === 404) return 'não conhece este endereço'
  if (status === 410) return 'disse que este endereço acabou'
  if (status === 429) return 'pediu para esperar'
  return status < 500 ? 'recusou a mensagem' : 'falhou do lado de lá'
}
