import type { Code } from '@vigia/contract/codes'
import { desacordo, retiradaDesacordo } from '@vigia/dfe/families/cte'
import type { Family } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'

/** An entry of the menu "Manifestar", with its explanation. */
export interface AnswerType extends Code {
  tpEvento: number
  /** Meaning and effect of the answer. */
  means: string
  /** Minimum length of the justificativa for the authority. */
  reasonMin: number
  /** Usual texts to begin with. */
  reasons: readonly string[]
  /** Whether the person may name fields instead of writing a text. */
  corrects: boolean
}

// By family and choice.
const meanings: Readonly<Partial<Record<FamilyId, Record<number, string>>>> = {
  nfe: {
    1: 'Diz à SEFAZ que a sua empresa sabe que a nota existe, e com isso o XML completo é liberado. Depois dela ainda é devida uma resposta final: Confirmação, Desconhecimento ou Não Realizada.',
    2: 'Diz que a operação aconteceu como está na nota: é uma resposta final. Depois dela o fornecedor não pode mais cancelar a nota.',
    3: 'Diz que ninguém na sua empresa fez esta operação: é uma resposta final, para notas que não são suas. A SEFAZ registra e o emitente fica sabendo.',
    4: 'Diz que a operação era sua, mas não aconteceu: a mercadoria foi recusada, voltou ou não chegou. É uma resposta final, e o motivo que você escrever vai junto.',
  },
  cte: {
    1: 'Cancela o CT-e na SEFAZ, e isso não pode ser desfeito. Só a transportadora que o emitiu pode cancelar, e o motivo que você escrever vai junto.',
    2: 'Corrige dados do CT-e que não mudam valores, impostos nem participantes. Só a transportadora que o emitiu pode corrigir, e a última carta vale no lugar das anteriores.',
    [desacordo]:
      'Diz à SEFAZ e à transportadora que o serviço não foi prestado como está no CT-e. Só quem paga o frete pode dizer isso, e o motivo que você escrever vai junto.',
    [retiradaDesacordo]:
      'Retira o desacordo que a sua empresa registrou. Depois disso o CT-e volta a valer como estava.',
  },
}

const usualReasons: Partial<Record<number, readonly string[]>> = {
  [desacordo]: [
    'Valor do frete diferente do combinado',
    'Serviço não prestado',
    'Tomador incorreto no CT-e',
    'Mercadoria com avaria ou falta',
  ],
}

// An answer that the family gains is offered also while it has no texts here.
export function answerTypes({ id, answers }: Family): AnswerType[] {
  return answers.map(({ choice, name, tpEvento, text }) => ({
    code: choice,
    label: name,
    tpEvento,
    means: meanings[id]?.[choice] ?? '',
    reasonMin: text === 'demanded' ? 15 : 1,
    reasons: usualReasons[choice] ?? [],
    corrects: text === 'corrections',
  }))
}
