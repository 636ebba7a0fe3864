import { deletionDays } from '@vigia/contract/codes'
import { shownIfSet, shownIfUnset } from '../lib/site.ts'
import { LegalFrame, Lines } from './frame.tsx'
import type { LegalSite } from './site.ts'
import { ToWhom } from './to-whom.tsx'

const kept = [
  ['Conta', 'Nome, e-mail e, se você quiser, celular. Da senha fica só um resumo (argon2id), que não a revela.'],
  ['Sessões', 'Endereço de rede, navegador e horários de cada acesso. Você os vê e pode encerrar cada um.'],
  [
    'Certificado A1',
    'A chave privada, cifrada com AES-256-GCM e presa à empresa. A senha do arquivo não fica; num envio de muitos, arquivo e senha esperam cifrados até serem lidos, um dia no máximo. Cada uso é anotado.',
  ],
  [
    'Documentos fiscais',
    'NF-e, CT-e e eventos como a SEFAZ os entregou. Neles há dados de pessoas: nome, CPF, endereço e telefone de compradores, motoristas e vendedores.',
  ],
  [
    'Registro de atos',
    'Quem entrou, cadastrou, manifestou, trocou a senha, baixou ou imprimiu um documento, quando e de que endereço.',
  ],
  ['Mensagens', 'O que você escreve em “Fale com a Gente”.'],
] as const

const bases = [
  [
    'Conta e mensagens',
    'Contrato com você, ou o que você pediu antes dele (LGPD, art. 7º, V). Aqui somos o controlador.',
  ],
  ['Sessões e registro de atos', 'Segurança da conta, interesse seu e nosso (art. 7º, IX). Aqui somos o controlador.'],
  [
    'Documentos fiscais e certificado',
    'Obrigação legal da empresa de receber e guardar os documentos (art. 7º, II). A empresa cliente é a controladora; nós somos o operador e fazemos o que ela pede (art. 5º, VI e VII).',
  ],
] as const

const terms = [
  [
    'Conta, empresas, documentos',
    `Enquanto a conta existir, e ${deletionDays} dias depois do pedido de exclusão. Nada é apagado por idade: é o que o produto promete.`,
  ],
  ['Certificados', 'Enquanto a conta existir; um certificado retirado deixa de ser usado na hora.'],
  ['Registro de atos', 'Enquanto a conta existir; ninguém o altera pela aplicação, e uma alteração por fora é notada.'],
  ['Cadastro sem empresa e sem e-mail confirmado', '30 dias: talvez o e-mail seja de outra pessoa.'],
  ['Sessões', 'Até 30 dias, 7 dias sem uso, ou até você sair.'],
  ['Links de senha e de e-mail', 'Valem uma hora e um dia; o resumo deles some depois de 30 dias.'],
  ['E-mails que enviamos', 'O conteúdo some quando são entregues; a anotação de que existiram, 90 dias depois.'],
  ['Tentativas de acesso', 'Resumos de e-mail e endereço, por algumas horas.'],
  ['Mensagens de “Fale com a Gente”', 'Sem prazo, até você pedir que sejam apagadas.'],
] as const

/** /privacidade */
export function PrivacyPage({ site: { productName, contactEmail, pesquisa, privacidade } }: { site: LegalSite }) {
  const toWhom = <ToWhom email={contactEmail ?? ''} />
  return (
    <LegalFrame
      productName={productName}
      title="Privacidade"
      summary={`O ${productName} guarda o que precisa para buscar e mostrar os seus documentos, e nada além. Não há propaganda, não há rastreio, e nenhum dado é vendido.`}
      sections={[
        {
          id: 'responsavel',
          title: 'Quem responde por isto',
          body: (
            <>
              <p className={shownIfSet.controller}>Responsável: {privacidade.responsavel}</p>
              <p className={shownIfUnset.controller}>
                Quem opera esta instalação ainda não escreveu aqui quem é: ela não está configurada para clientes, só
                para demonstração. Não cadastre nela dados de empresas de verdade.
              </p>
              <p className={shownIfSet.officer}>
                Encarregado pelo tratamento de dados pessoais (art. 41): {privacidade.encarregado}
              </p>
              <p className={shownIfUnset.officer}>
                O encarregado pelo tratamento de dados pessoais (art. 41) não está configurado: escreva {toWhom}.
              </p>
            </>
          ),
        },
        { id: 'dados', title: 'O que fica guardado', body: <Lines lines={kept} /> },
        { id: 'bases', title: 'Para quê, e com que direito', body: <Lines lines={bases} /> },
        {
          id: 'onde',
          title: 'Onde fica e quem recebe',
          body: (
            <>
              <p>
                Tudo fica no banco de dados de quem opera este serviço. O programa não entrega nada a suboperadores;
                saem daqui apenas:
              </p>
              <Lines
                lines={[
                  ['SEFAZ', 'Consultas com o CNPJ e o certificado da empresa, e as manifestações que você pede.'],
                  [
                    'Outras contas com o mesmo CNPJ',
                    'A SEFAZ entrega cada documento uma vez por CNPJ. Por isso uma consulta feita com o certificado de uma conta serve a todas as que cadastraram esse CNPJ e provaram ser dele com um certificado próprio: o seu pode consultar por elas, e o delas por você. Recebem só os documentos da SEFAZ; ninguém vê o certificado, a conta, nem que há outra. Para não participar, remova o certificado da empresa: ele deixa de ser usado na hora.',
                  ],
                  ['Servidor de e-mail', 'O endereço e o texto dos avisos que enviamos a você.'],
                ]}
              />
              <p>
                Sem telemetria: o programa não informa a quem o fez, nem a mais ninguém, que está instalado, como é
                usado ou o que falhou.
              </p>
              <p className={shownIfSet.survey}>
                Este serviço usa uma pesquisa de opinião carregada de {pesquisa?.endereco}, para quem entrou na conta.
                Ela recebe o que você responder e, como qualquer página, o seu endereço de rede.
              </p>
              <p className={shownIfUnset.survey}>
                As páginas não carregam nada de outros lugares: nem fontes, nem medição de audiência, nem pesquisas.
              </p>
            </>
          ),
        },
        {
          id: 'protecao',
          title: 'Como é protegido',
          body: (
            <>
              <p>
                Cada conta vê só o que é dela, e o próprio banco de dados recusa o resto. Senhas e links ficam como
                resumos; as chaves dos certificados, cifradas com uma chave que não está no banco. As conexões com a
                SEFAZ são sempre verificadas. Se houver um incidente que traga risco a você, avisamos você e a ANPD
                (art. 48).
              </p>
              <p className={shownIfSet.incidents}>Incidentes até agora: {privacidade.incidentes}</p>
              <p className={shownIfUnset.incidents}>
                Quem opera esta instalação ainda não escreveu aqui se houve incidentes.
              </p>
            </>
          ),
        },
        { id: 'prazos', title: 'Por quanto tempo', body: <Lines lines={terms} /> },
        {
          id: 'direitos',
          title: 'Os seus direitos, e como usá-los',
          body: (
            <>
              <p>
                Você pode saber se temos dados seus, ver, corrigir, levar consigo, pedir que sejam apagados e saber com
                quem foram partilhados (art. 18). Escreva {toWhom} a partir do e-mail da conta; respondemos em até 15
                dias. Nome, e-mail e celular estão em “Minha conta”, onde você os corrige.
              </p>
              <p>
                Em “Minha conta” você exclui a conta: as chaves dos certificados são apagadas na hora, e o resto, com o
                seu cadastro, em {deletionDays} dias, em que dá para desistir. Isso leva junto os documentos, que a
                empresa, e não nós, deve guardar por pelo menos cinco anos: antes, no mesmo lugar, “Exportar todos os
                dados” junta num arquivo o que a conta guarda, inclusive os seus dados. Fica anotado apenas que uma
                conta foi excluída, quando e de que tamanho, sem dados de pessoas. Cópias de segurança ainda têm os
                dados até serem substituídas.
              </p>
              <p>
                Se os seus dados estão na nota de uma empresa que usa o {productName}, quem decide é ela: peça a ela, ou
                a nós, que levamos o pedido. A qualquer momento você pode reclamar à ANPD (gov.br/anpd).
              </p>
            </>
          ),
        },
      ]}
    />
  )
}
