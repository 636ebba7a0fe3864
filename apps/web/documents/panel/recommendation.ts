import type { DocumentRow } from '@vigia/contract/documents'
import { formatCount, formatShortDay } from '@vigia/contract/text'
import { nfe } from '@vigia/dfe/families/nfe'
import type { DocumentKind } from '../../lib/kinds.ts'

/** The recommendation of the panel for a document. */
interface Recommendation {
  title: string
  text: string
  actions: readonly Action[]
}

export type Action =
  /** Opens the dialog of one answer. */
  | { does: 'answer'; code: number; label: string; primary: boolean }
  /** Opens the menu of all answers. */
  | { does: 'answers'; label: string }
  /** Leads to the answers that wait for a second person. */
  | { does: 'approvals' }
  | { does: 'print' }

interface Circumstances {
  kind: DocumentKind
  document: DocumentRow
  /** Why only the summary arrived. */
  missing: string | null
  /** Notes of the issuer to this company, including this one; null: unknown. */
  ofIssuer: number | null
}

const cancelled = [110111, 110112]
const [disputed, replaced, withdraw] = [610110, 240140, 610111]
const [ciencia, unknown] = [1, 3]

// Ajuste SINIEF 9/07, as Ajuste SINIEF 31/22 words it; MOC CT-e 4.00, regras 220 and 787.
const carrierNext =
  'A transportadora pode agora emitir um CT-e de substituição (Ajuste SINIEF 9/07, cláusula décima sétima) ou, se o transporte não começou e não passaram 168 horas da autorização, cancelar este (cláusula décima quarta); até lá o CT-e continua valendo na SEFAZ.'

/** Recommends by the open deadline; for an unknown supplier it asks instead. */
export function recommend({ kind, document, missing, ofIssuer }: Circumstances): Recommendation {
  const print: Action[] = document.notaCompleta ? [{ does: 'print' }] : []
  const { prazo, eventoEmEnvio, status } = document
  if (eventoEmEnvio) {
    const text = 'O resultado aparece aqui sozinho assim que a SEFAZ responder. Não é preciso enviar de novo.'
    return { title: `${eventoEmEnvio}: em envio`, text, actions: print }
  }
  const { aguardaSegunda, sugestao } = document
  const approvals: Action[] = aguardaSegunda ? [{ does: 'approvals' }] : []
  if (cancelled.includes(status.codigoEvento)) {
    const text =
      'O documento não vale mais. Se a mercadoria ou o serviço já foi entregue, fale com o emitente antes de pagar.'
    return {
      title: `${kind.short} ${`cancelad${kind.ending}`}`,
      text,
      actions: [...approvals, ...print],
    }
  }
  if (status.codigoEvento === replaced) {
    const text =
      'A transportadora emitiu outro CT-e no lugar deste. Confira o que já foi pago e escriturado; o substituto, quando chega, está em Documentos relacionados.'
    return { title: 'CT-e substituído', text, actions: [...approvals, ...print] }
  }
  if (aguardaSegunda) {
    const by = aguardaSegunda.quem === null ? '' : ` a pedido de ${aguardaSegunda.quem}`
    const read = prazo?.para === 'ciencia' && !document.notaCompleta
    const text = `Nada foi enviado${by}: outra pessoa que possa responder por esta empresa aprova ou recusa, em “Aprovações pendentes”.${read ? ' A Ciência não espera por ninguém, e traz o XML para quem aprova ler.' : ''}`
    const acknowledge: Action[] = read
      ? [{ does: 'answer', code: ciencia, label: 'Dar Ciência para receber o XML', primary: false }]
      : []
    return {
      title: `${aguardaSegunda.evento}: aguarda segunda pessoa`,
      text,
      actions: [...approvals, ...acknowledge, ...print],
    }
  }
  if (status.codigoEvento === disputed) {
    return {
      title: 'Desacordo registrado',
      text: carrierNext,
      actions: [{ does: 'answer', code: withdraw, label: 'Retirar o desacordo', primary: false }, ...print],
    }
  }
  const until = prazo ? formatShortDay(new Date(prazo.ate)) : null
  if (sugestao && prazo && kind.type === nfe.id) {
    const [title, label] =
      sugestao.tipoManifestacao === 2
        ? ['Confirmação sugerida', 'Confirmar']
        : ['Desconhecimento preparado', 'Não reconheço']
    const text = `Pela regra “${sugestao.regra}”. Nada é enviado sem você; a resposta diz que a regra a sugeriu.`
    return {
      title,
      text,
      actions: [{ does: 'answer', code: sugestao.tipoManifestacao, label, primary: true }, ...print],
    }
  }
  if (prazo?.para === 'ciencia') {
    return ofIssuer !== null && ofIssuer > 1 ? askForXml(ofIssuer, until) : askWhoItIs(ofIssuer, until)
  }
  if (prazo?.para === 'manifestacao') {
    const text =
      'Falta a resposta final da sua empresa: confirme se a operação aconteceu, ou diga que não a reconhece ou que não se realizou.'
    return {
      title: `Responder até ${until}`,
      text,
      actions: [{ does: 'answers', label: `Responder até ${until}` }, ...print],
    }
  }
  if (prazo?.para === 'desacordo') {
    const text = `Se o serviço não foi prestado como está no CT-e, quem paga o frete pode registrar o desacordo até ${until}. Com ele a transportadora pode emitir um CT-e de substituição.`
    return { title: 'Conferir o frete', text, actions: print }
  }
  if (!document.notaCompleta) {
    return { title: 'Só o resumo está aqui', text: missing ?? 'O documento completo ainda não chegou.', actions: [] }
  }
  return { title: 'Nada pendente', text: `O documento completo está guardado aqui.`, actions: print }
}

function askForXml(ofIssuer: number, until: string | null): Recommendation {
  return {
    title: 'Dar Ciência para receber o XML',
    text: `${evidence(ofIssuer)}A Ciência pode ser dada até ${until}; depois dela é devida uma resposta final.`,
    actions: [
      { does: 'answer', code: ciencia, label: 'Dar Ciência para receber o XML', primary: true },
      { does: 'answer', code: unknown, label: 'Não reconheço', primary: false },
    ],
  }
}

function askWhoItIs(ofIssuer: number | null, until: string | null): Recommendation {
  return {
    title: 'Você reconhece esta nota?',
    text: `${evidence(ofIssuer)}Se a operação é sua, a Ciência libera o XML até ${until}, e depois é devida uma resposta final. Se não é, responda que não a reconhece.`,
    actions: [
      { does: 'answer', code: ciencia, label: 'Reconheço: dar Ciência', primary: false },
      { does: 'answer', code: unknown, label: 'Não reconheço', primary: false },
    ],
  }
}

// Calls an issuer new only when the number of its notes is known.
function evidence(ofIssuer: number | null): string {
  if (ofIssuer === null) return ''
  if (ofIssuer <= 1) return 'É a primeira nota deste emitente para esta empresa. '
  return `Há ${formatCount(ofIssuer - 1, 'outra nota', 'outras notas')} deste emitente para esta empresa. `
}
