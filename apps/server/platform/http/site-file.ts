import { readFileSync } from 'node:fs'
import { initials, SiteSettings } from '@vigia/contract/site'
import { z } from 'zod'

const { numeros, depoimentos, privacidade } = SiteSettings.shape
const { responsavel, encarregado, incidentes } = privacidade.shape
const SiteFile = z.strictObject({
  numeros: z.strictObject(numeros.shape).optional(),
  depoimentos: z
    .array(
      z
        .strictObject(depoimentos.element.omit({ iniciais: true }).shape)
        .transform((testimonial) => ({ ...testimonial, iniciais: initials(testimonial.nome) })),
    )
    .length(6)
    .optional(),
  privacidade: z
    .strictObject({
      responsavel: responsavel.unwrap().optional(),
      encarregado: encarregado.unwrap().optional(),
      incidentes: incidentes.unwrap().optional(),
    })
    .optional(),
})

/** Texts of an installation: on the landing page instead of the examples, and on the privacy page. */
export type SiteFile = z.output<typeof SiteFile>

/** Reads the JSON file; its problems are sentences that follow the name of the file. */
export function readSiteFile(path: string): { site: SiteFile; problems: string[] } {
  const broken = (problem: string) => ({ site: {}, problems: [problem] })
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    return broken(`não pôde ser lido (${(error as NodeJS.ErrnoException).code})`)
  }
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return broken('não é um arquivo JSON')
  }
  const { data = {}, error } = SiteFile.safeParse(content, { error: sentenceOf })
  const problems = error?.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' ')) ?? []
  return { site: data, problems }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'um texto',
  int: 'um número inteiro',
  number: 'um número',
  array: 'uma lista',
  object: 'um objeto',
}

// The shapes are those of the contract, but its messages are for forms.
function sentenceOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'falta' : `deve ser ${kinds[issue.expected] ?? issue.expected}`
    case 'unrecognized_keys':
      return `tem campos que ninguém lê: ${issue.keys.join(', ')}`
    case 'too_small':
      if (issue.origin === 'array') return `deve ter ${issue.minimum} itens`
      return issue.origin === 'string' ? 'não pode ficar vazio' : `deve ser no mínimo ${issue.minimum}`
    case 'too_big':
      if (issue.origin === 'array') return `deve ter ${issue.maximum} itens`
      return issue.origin === 'string'
        ? `deve ter no máximo ${issue.maximum} caracteres`
        : `deve ser no máximo ${issue.maximum}`
    default:
      return 'não está no formato esperado'
  }
}
