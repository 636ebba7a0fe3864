import { formatCount, formatInteger } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { companyScreen, named, type Writer } from './topics.ts'

/** A company was registered. */
export interface Registered {
  cnpj: string
  by: string
}

const registered: Writer = {
  topic: 'empresa',
  write(items) {
    const [first] = items
    const { cnpj, by } = first!.payload as Registered
    if (items.length === 1)
      return {
        kind: 'sucesso',
        header: 'Empresa cadastrada',
        body: `${first!.company} (${formatCnpj(cnpj)}) foi cadastrada por ${by}. A primeira captura começa em instantes.`,
        link: companyScreen(items, '/empresas'),
      }
    return {
      kind: 'sucesso',
      header: 'Empresas cadastradas',
      body: `${formatCount(items.length, 'empresa foi cadastrada', 'empresas foram cadastradas')}: ${named(items.map(({ company }) => company))}. As primeiras capturas começam em instantes.`,
      link: '/empresas',
    }
  },
}

/** All files of a batch of certificates were decided. */
export interface BatchEnded {
  replaced: number
  registered: number
  unchanged: number
  failed: number
  /** Announced files that did not arrive. */
  missing: number
  by: string
}

const batchEnded: Writer = {
  topic: 'certificado',
  write(items) {
    const batches = items.map(({ payload }) => payload as BatchEnded)
    const sum = (name: Exclude<keyof BatchEnded, 'by'>) => batches.reduce((total, batch) => total + batch[name], 0)
    const [replaced, registered, unchanged] = [sum('replaced'), sum('registered'), sum('unchanged')]
    const [failed, missing] = [sum('failed'), sum('missing')]
    const what = [
      ...(replaced > 0 ? [formatCount(replaced, 'certificado trocado', 'certificados trocados')] : []),
      ...(registered > 0 ? [formatCount(registered, 'empresa cadastrada', 'empresas cadastradas')] : []),
      ...(unchanged > 0 ? [`${formatInteger(unchanged)} sem mudança`] : []),
      ...(failed > 0 ? [`${formatInteger(failed)} com problema`] : []),
      ...(missing > 0 ? [formatCount(missing, 'arquivo não chegou', 'arquivos não chegaram')] : []),
    ].join(', ')
    const whose = [...new Set(batches.map(({ by }) => by))].join(' e ')
    return {
      kind: failed + missing > 0 ? 'alert' : 'sucesso',
      header: 'Certificados conferidos',
      body: `Do que ${whose} enviou: ${what || 'nenhum arquivo'}. O resultado de cada arquivo está em Empresas, Nova Empresa.`,
      link: '/empresas/nova',
    }
  },
}

/** A certificate ends soon or has ended. */
export interface Ending {
  company: string
  companyPublicId: string
  /** How many companies use it. */
  companies: number
  /** "vence em 7 dias". */
  when: string
  ended: boolean
}

const ending: Writer = {
  topic: 'certificado',
  write(items) {
    const certificates = items.map(({ payload }) => payload as Ending)
    const [first] = certificates as [Ending]
    const ended = certificates.filter((one) => one.ended).length
    const kind = ended > 0 ? 'error' : 'alert'
    const link =
      certificates.length === 1 ? `/empresas/editar/${first.companyPublicId}#certificado` : '/empresas?so=certificado'
    const whatToDo = 'Os documentos guardados continuam seguros. Renove-o e envie o arquivo novo na página da empresa.'
    if (certificates.length === 1)
      return {
        kind,
        header: first.ended ? 'Certificado digital vencido' : 'Certificado digital perto de vencer',
        body: first.ended
          ? `O certificado de ${whoseText(first)} venceu, e a captura parou. ${whatToDo}`
          : `O certificado de ${whoseText(first)} ${first.when}. Depois disso a captura para. ${whatToDo}`,
        link,
      }
    const soon = certificates.length - ended
    const what = [
      ...(ended > 0 ? [formatCount(ended, 'certificado venceu', 'certificados venceram')] : []),
      ...(soon > 0
        ? [formatCount(soon, 'certificado está perto de vencer', 'certificados estão perto de vencer')]
        : []),
    ].join(' e ')
    return {
      kind,
      header: 'Certificados digitais',
      body: `${what}: ${named(certificates.map(({ company }) => company))}. Os documentos guardados continuam seguros. Veja cada um em Empresas.`,
      link,
    }
  },
}

function whoseText({ company, companies }: Ending): string {
  return companies === 1 ? company : `${company} e de mais ${formatCount(companies - 1, 'empresa', 'empresas')}`
}

/** The announcements of this slice. */
export const companyAnnouncements: Readonly<Record<string, Writer>> = {
  'empresa-cadastrada': registered,
  'lote-conferido': batchEnded,
  'certificado-vence': ending,
}
