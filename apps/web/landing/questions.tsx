import { clsx } from 'clsx'
import { shownWithPlans } from '../lib/site.ts'

const ofTrial = 'O que acontece depois dos 7 dias?'

const questions = [
  [
    'Como o meu certificado é protegido?',
    'A senha não é guardada. A chave privada é cifrada com AES-256-GCM, e a chave que a abre fica fora do banco de dados. Ela só serve para consultar a SEFAZ e assinar o que você pedir; cada uso fica registrado. O arquivo nunca é oferecido para baixar, nem a você.',
  ],
  [
    ofTrial,
    'A captura faz uma pausa e nada é cobrado: não pedimos cartão. O que já chegou continua seu, para ver e baixar. Quando o plano é ativado, a captura retoma de onde parou e traz o que a SEFAZ ainda tiver.',
  ],
  [
    'Em quanto tempo uma nota aparece?',
    'Depende da SEFAZ: ela aceita uma consulta por hora e pode levar algumas horas para liberar um documento. A tela diz quando foi a última consulta e quando será a próxima; se algo parar, diz por quê e até quando.',
  ],
  [
    'Vocês buscam notas antigas?',
    'Até onde a SEFAZ entrega, cerca de três meses. O que ninguém captura nesse prazo se perde lá. O que chegou aqui fica, e a busca acha uma nota de anos atrás em segundos.',
  ],
  [
    'O que não vem?',
    'As NF-e que a própria empresa emitiu e as NFC-e: esse serviço da SEFAZ não as entrega. E de uma nota que ninguém respondeu às vezes só vem o resumo; a tela mostra o que falta e como liberar.',
  ],
  [
    'Alguém responde notas em meu nome?',
    'Só se você pedir. A Ciência automática vem desligada, e antes de enviar qualquer manifestação a tela diz o que ela significa e o que não se desfaz.',
  ],
] as const

export function Questions() {
  return (
    <section aria-labelledby="perguntas" className="container-page py-24 max-sm:py-12">
      <h2 id="perguntas" className="max-w-140 text-2xl tracking-[-0.01em]">
        Perguntas para fazer antes de entregar um certificado a alguém
      </h2>
      <div className="ledger mt-8 max-sm:mt-4">
        {questions.map(([question, answer]) => (
          <details key={question} className={clsx('border-line border-b py-3', question === ofTrial && shownWithPlans)}>
            <summary className="cursor-pointer font-semibold">{question}</summary>
            <p className="mt-1.5 max-w-150 text-pretty text-muted">{answer}</p>
          </details>
        ))}
      </div>
    </section>
  )
}
