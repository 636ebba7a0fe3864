import type { RouteDefinition } from '@vigia/contract/route'
import { Ajv2020 } from 'ajv/dist/2020.js'

interface Operation {
  parameters?: { name: string; in: string }[]
  responses: Record<string, { $ref?: string; content?: Record<string, object> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
}

/** The description of the API that a server publishes, read by a program that did not write it. */
export class Description {
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false })
  private readonly document: Document

  static async of(url: string): Promise<Description> {
    const response = await fetch(new URL('/docs/json', url))
    return new Description((await response.json()) as Document)
  }

  private constructor(document: Document) {
    this.document = document
    this.ajv.addSchema(document, 'api')
  }

  /** Each parameter with its place, "query TipoDFe". */
  parametersOf(route: RouteDefinition): string[] {
    return (this.operation(route).parameters ?? []).map((parameter) => `${parameter.in} ${parameter.name}`).sort()
  }

  /** Problems of a JSON body; empty: none. */
  problemsOfBody(route: RouteDefinition, body: unknown): string {
    return this.problems([...placeOf(route), 'requestBody', 'content', 'application/json', 'schema'], body)
  }

  /** Problems of a response: its status, media type or JSON is not in the description; empty: none. */
  problemsOfAnswer(route: RouteDefinition, answer: { status: number; type: string; body: unknown }): string {
    const response = this.operation(route).responses[answer.status]
    if (!response) return `no answer ${answer.status} is described`
    const [mediaType = ''] = answer.type.split(';')
    const place = response.$ref?.slice(2).split('/') ?? [...placeOf(route), 'responses', String(answer.status)]
    if (mediaType === 'application/json') return this.problems([...place, 'content', mediaType, 'schema'], answer.body)
    return response.content?.[mediaType] ? '' : `no ${mediaType} is described`
  }

  private operation({ path, method }: RouteDefinition): Operation {
    return this.document.paths[path]![method.toLowerCase()]!
  }

  private problems(place: string[], value: unknown): string {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
    const validate = this.ajv.getSchema(`api#/${pointer}`)
    if (!validate) return `nothing is described at ${place.join(' ')}`
    return validate(value) ? '' : this.ajv.errorsText(validate.errors)
  }
}

const placeOf = ({ path, method }: RouteDefinition) => ['paths', path, method.toLowerCase()]
