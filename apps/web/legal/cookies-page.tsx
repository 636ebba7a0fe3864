import { shownIfSet, shownIfUnset } from '../lib/site.ts'
import { LegalFrame, Lines } from './frame.tsx'
import type { LegalSite } from './site.ts'
import { ToWhom } from './to-whom.tsx'

const cookies = [
  [
    <code key="name">vigia_sidebar</code>,
    'Se a barra lateral está aberta ou recolhida. Dura 7 dias e não diz quem você é.',
  ],
] as const

const storage = [
  [
    <code key="name">vigia.session</code>,
    'A sua sessão: um código de acesso, o identificador da conta e o seu e-mail. Fica até você sair, e vale até 30 dias, ou 7 dias sem uso.',
  ],
  [<code key="name">vigia.theme</code>, 'O tema que você escolheu, claro ou escuro. Fica até você escolher outro.'],
  [
    <code key="name">vigia.columns</code>,
    'As colunas que você escondeu em cada lista. Fica até você mostrá-las de novo.',
  ],
  [
    <code key="name">vigia.density</code>,
    'Se as linhas das listas são baixas ou altas. Fica até você escolher de novo.',
  ],
  [<code key="name">vigia.keys</code>, 'Que você desligou as teclas de uma letra só. Fica até você ligá-las de novo.'],
  [
    <code key="name">vigia.seen</code>,
    'Quantas notas canceladas do mês você já viu no Dashboard, para não mostrá-las de novo. Vale até o fim do mês.',
  ],
  [
    <code key="name">vigia.searches</code>,
    'As últimas buscas que você fez nas listas, para sugeri-las de novo. Somem quando você sai.',
  ],
  [
    <code key="name">vigia.lists</code>,
    'Só no aplicativo instalado: a primeira página de cada lista como veio da última vez, para mostrá-la sem conexão. Some quando você sai, quando a sessão acaba, quando você troca de workspace ou quando outra pessoa entra.',
  ],
  [
    <code key="name">vigia.first-captures-left</code>,
    'De quais empresas você já deixou a página da primeira captura, para não mostrá-la de novo. Fica até você apagar os dados do site.',
  ],
  [
    <code key="name">vigia.shell</code>,
    'O código das telas, sem nenhum dado seu, para que abram sem conexão. É trocado a cada versão nova.',
  ],
  [
    <code key="name">vigia.places</code>,
    'Em que ponto de cada tela você estava, para voltar ao mesmo lugar. Some quando a aba é fechada.',
  ],
] as const

/** /cookies */
export function CookiesPage({ site: { productName, contactEmail, pesquisa } }: { site: LegalSite }) {
  return (
    <LegalFrame
      productName={productName}
      title="Cookies"
      summary="Há um cookie só, e ele lembra se a barra lateral está aberta. Não há cookies de propaganda nem de medição, e por isso não há aviso para você aceitar."
      sections={[
        { id: 'cookie', title: 'O cookie', body: <Lines lines={cookies} /> },
        {
          id: 'navegador',
          title: 'O que mais fica no seu navegador',
          body: (
            <>
              <p>No armazenamento da página, que o navegador não envia a lugar nenhum por si:</p>
              <Lines lines={storage} />
              <p>
                Quem usa um computador dividido com outros deve tocar em “Sair” ao terminar: isso apaga a sessão daqui e
                a encerra no servidor.
              </p>
            </>
          ),
        },
        {
          id: 'terceiros',
          title: 'De terceiros',
          body: (
            <>
              <p className={shownIfSet.survey}>
                Depois que você entra, carregamos uma pesquisa de opinião de {pesquisa?.endereco}. Ela pode guardar no
                seu navegador o que precisa para não perguntar duas vezes.
              </p>
              <p className={shownIfUnset.survey}>Nenhum. Estas páginas não carregam nada de outros lugares.</p>
            </>
          ),
        },
        {
          id: 'apagar',
          title: 'Como apagar',
          body: (
            <p>
              Nas configurações do navegador, em “dados de sites”. Sem eles tudo continua a funcionar: você só precisa
              entrar de novo. Dúvidas? Escreva <ToWhom email={contactEmail ?? ''} />.
            </p>
          ),
        },
      ]}
    />
  )
}
