import { type PlanOffer, plans } from '../lib/plans.ts'
import { shownWithPlans } from '../lib/site.ts'
import { LegalFrame, Lines } from './frame.tsx'
import type { LegalSite } from './site.ts'
import { ToWhom } from './to-whom.tsx'

/** /termos */
export function TermsPage({ site: { productName, contactEmail } }: { site: LegalSite }) {
  const toWhom = <ToWhom email={contactEmail ?? ''} />
  return (
    <LegalFrame
      productName={productName}
      title="Termos de uso"
      summary={`O ${productName} busca na SEFAZ os documentos emitidos contra a sua empresa, guarda e mostra. Você empresta o certificado e decide o que responder; nós cuidamos do resto e dizemos quando algo para.`}
      sections={[
        {
          id: 'servico',
          title: 'O que o serviço faz',
          body: (
            <>
              <p>
                Com o certificado A1 da empresa, consulta a SEFAZ a cada hora, guarda cada NF-e e CT-e como foi
                entregue, mostra o DANFE e o DACTE e envia as manifestações que você pedir.
              </p>
              <p>
                O que depende da SEFAZ não depende de nós: o ritmo das consultas, o tempo que ela leva para liberar um
                documento, os cerca de três meses em que ainda o entrega, os bloqueios que ela impõe. Quando algo disso
                acontece, a tela diz o quê e até quando. O serviço não recebe as NF-e que a própria empresa emitiu nem
                as NFC-e.
              </p>
              <p>
                O DANFE e o DACTE são representações. O documento com valor legal é o XML assinado, que você baixa aqui.
              </p>
            </>
          ),
        },
        {
          id: 'conta',
          title: 'A sua conta e o seu certificado',
          body: (
            <>
              <p>
                Cadastre só empresas pelas quais você pode responder. A conta tem uma senha; quem a tem pode fazer tudo
                nela, então não a divida. Se desconfiar de algo, troque a senha: as outras sessões são encerradas.
              </p>
              <p>
                O certificado é usado para consultar a SEFAZ e para assinar o que você mandar enviar, e para nada mais.
                Cada uso fica registrado, e você pode substituí-lo ou retirá-lo. Um certificado perdido deve ser
                revogado também em quem o emitiu.
              </p>
            </>
          ),
        },
        {
          id: 'manifestacao',
          title: 'O que você envia à SEFAZ',
          body: (
            <p>
              Ciência, Confirmação, Desconhecimento, Operação não Realizada e os eventos de CT-e são declarações da
              empresa. Quem decide é você; a tela diz antes o que cada uma causa e o que não se desfaz. A Ciência
              automática vem desligada e só funciona se você a ligar na empresa.
            </p>
          ),
        },
        {
          id: 'planos',
          title: 'Teste, planos e preço',
          className: shownWithPlans,
          body: (
            <>
              <Lines
                lines={[
                  ['Teste', '7 dias grátis, sem cartão de crédito.'],
                  [plans[1].name, offerOf(plans[1])],
                  [plans[2].name, offerOf(plans[2])],
                  ['Corporativo', 'Preço e atendimento combinados em contrato.'],
                ]}
              />
              <p>
                Depois do teste nada é cobrado sozinho: a captura faz uma pausa, e o que chegou continua disponível para
                ver e baixar. Um plano é ativado quando você o pede. No Básico, o que passa de 5 mil documentos no mês é
                guardado do mesmo jeito, e avisamos.
              </p>
              <p>
                Não há prazo mínimo nem taxa de cancelamento. Para cancelar, escreva {toWhom}. Durante uma pausa longa,
                documentos podem vencer na SEFAZ: ela os guarda por cerca de 90 dias e deixa de numerá-los para quem não
                consulta por 60.
              </p>
            </>
          ),
        },
        {
          id: 'guarda',
          title: 'Guarda dos documentos',
          body: (
            <p>
              Nada é apagado por idade. Guardar os documentos fiscais continua a ser dever da empresa (no mínimo cinco
              anos, pelo Código Tributário Nacional): tenha também a sua cópia. Para apagar a conta ou levar tudo
              embora, veja{' '}
              <a href="/privacidade#direitos" className="font-semibold text-brand underline underline-offset-3">
                Privacidade
              </a>
              .
            </p>
          ),
        },
        {
          id: 'limites',
          title: 'O que não é permitido',
          body: (
            <p>
              Usar o certificado de outra empresa sem autorização, tentar entrar em contas alheias, sobrecarregar o
              serviço de propósito. Nesses casos o acesso pode ser suspenso, com aviso. A conta de demonstração é de
              todos os visitantes: não ponha nela dados de verdade.
            </p>
          ),
        },
        {
          id: 'mudancas',
          title: 'Mudanças e contato',
          body: (
            <p>
              Quando estes termos mudarem, a data no alto da página muda junto; de mudanças que tiram algo de você, você
              é avisado antes por e-mail. Vale a lei brasileira. Dúvidas? Escreva {toWhom}.
            </p>
          ),
        },
      ]}
    />
  )
}

function offerOf({ price, features }: PlanOffer): string {
  const inSentence = features.map((feature) => feature.charAt(0).toLowerCase() + feature.slice(1))
  return `${price} por mês: ${inSentence.join(', ')}.`
}
