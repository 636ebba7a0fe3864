import type { Code } from '@vigia/contract/documents'

/** An entry of the menu "Manifestar", with its explanation. */
export interface AnswerType extends Code {
  /** What it declares, and what it causes. */
  means: string
  /** Minimum length of the justificativa for the authority. */
  reasonMin: number
  /** Usual texts to begin with. */
  reasons: readonly string[]
  /** What the person begins with, where something led to this answer. */
  begin?: string
  /** Whether the person may name fields instead of writing a text. */
  corrects: boolean
}

type AnswerTexts = Pick<AnswerType, 'means'> & Partial<Pick<AnswerType, 'reasonMin' | 'corrects' | 'reasons'>>

const nfeTexts: Record<number, AnswerTexts> = {
  1: {
    means:
      'Diz à SEFAZ que a sua empresa sabe que a nota existe, e com isso o XML completo é liberado. Depois dela ainda é devida uma resposta final: Confirmação, Desconhecimento ou Não Realizada.',
  },
  2: {
    means:
      'Diz que a operação aconteceu como está na nota: é uma resposta final. Depois dela o fornecedor não pode mais cancelar a nota.',
  },
  3: {
    means:
      'Diz que ninguém na sua empresa fez esta operação: é uma resposta final, para notas que não são suas. A SEFAZ registra e o emitente fica sabendo.',
  },
  4: {
    means:
      'Diz que a operação era sua, mas não aconteceu: a mercadoria foi recusada, voltou ou não chegou. É uma resposta final, e o motivo que você escrever vai junto.',
    reasonMin: 15,
  },
}

const cteTexts: Record<number, AnswerTexts> = {
  1: {
    means:
      'Cancela o CT-e na SEFAZ, e isso não pode ser desfeito. Só a transportadora que o emitiu pode cancelar, e o motivo que você escrever vai junto.',
    reasonMin: 15,
  },
  2: {
    means:
      'Corrige dados do CT-e que não mudam valores, impostos nem participantes. Só a transportadora que o emitiu pode corrigir, e a última carta vale no lugar das anteriores.',
    corrects: true,
  },
  610110: {
    means:
      'Diz à SEFAZ e à transportadora que o serviço não foi prestado como está no CT-e. Só quem paga o frete pode dizer isso, e o motivo que você escrever vai junto.',
    reasonMin: 15,
    reasons: [
      'Valor do frete diferente do combinado',
      'Serviço não prestado',
      'Tomador incorreto no CT-e',
      'Mercadoria com avaria ou falta',
    ],
  },
  610111: {
    means: 'Retira o desacordo que a sua empresa registrou. Depois disso o CT-e volta a valer como estava.',
  },
}

export const nfeAnswers = (types: readonly Code[]) => types.map((type) => toAnswerType(type, nfeTexts))
export const cteAnswers = (types: readonly Code[]) => types.map((type) => toAnswerType(type, cteTexts))

// A type that the contract gains is offered also while it has no texts here.
function toAnswerType(type: Code, words: Record<number, AnswerTexts>): AnswerType {
  return { ...type, reasonMin: 1, reasons: [], corrects: false, means: '', ...words[type.code] }
}
