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

// The shapes are those of the contract, but its messages are for forms.
function sentenceOf(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'unrecognized_keys') return `tem campos que ninguém lê: ${issue.keys.join(', ')}`
  if (issue.code === 'too_small') return `deve ter no mínimo ${issue.minimum}`
  if (issue.code === 'too_big') return `deve ter no máximo ${issue.maximum}`
  return issue.input === undefined ? 'falta' : 'não está no formato esperado'
}
