import type { Article } from './articles.ts'

type Step = Article & Required<Pick<Article, 'link'>>

function step(id: string, title: string, text: string, to: string, keywords = ''): Step {
  return { id, title, body: [text], keywords, link: { to, words: 'Ir para esta tela' } }
}

/** Two lists of things to do, each with the place where it is done (section 2). */
export const guides: readonly { title: string; steps: readonly Step[] }[] = [
  {
    title: 'Primeiros passos',
    steps: [
      step(
        'guia-cadastrar',
        'Cadastrar a empresa',
        'Com o arquivo do certificado A1 e a senha dele.',
        '/empresas/nova',
        'comecar inicio',
      ),
      step(
        'guia-acompanhar',
        'Acompanhar a primeira captura',
        'Ela continua mesmo com a página fechada; a lista diz até onde já foi.',
        '/empresas',
        'progresso primeira',
      ),
      step(
        'guia-escolher',
        'Escolher o que aparece nas listas',
        'Na página da empresa, por participação: emitente, destinatário, tomador… Tudo continua guardado.',
        '/empresas',
        'participacao mostrar esconder filtro configuracao ciencia automatica',
      ),
      step(
        'guia-senha',
        'Proteger a conta',
        'Troque a senha e encerre sessões que você não conhece.',
        '/conta#senha',
        'seguranca senha sessoes',
      ),
    ],
  },
  {
    title: 'No dia a dia',
    steps: [
      step(
        'guia-responder',
        'Responder às notas',
        'Selecione notas e escolha Manifestar; a tela diz o que cada resposta causa.',
        '/notas-fiscais',
        'manifestar ciencia confirmacao desconhecimento',
      ),
      step(
        'guia-achar',
        'Achar uma nota pela chave',
        'Cole a chave, o número ou o nome do emitente na busca, em qualquer data. Em muitos celulares a câmera lê o código de barras.',
        '/notas-fiscais?periodo=todos',
        'procurar localizar recebimento caminhao camera codigo de barras danfe dacte',
      ),
      step(
        'guia-mes',
        'Exportar o mês para o contador',
        'Escolha o período e Exportar: XML, PDF e planilha em um ZIP.',
        '/notas-fiscais',
        'fechamento',
      ),
      step(
        'guia-certificados',
        'Renovar certificados a tempo',
        'A lista separa os que venceram e os que vencem em 30 dias.',
        '/empresas?so=certificado',
        'vencimento renovar',
      ),
      step(
        'guia-auditoria',
        'Ver quem fez o quê',
        'Entradas, manifestações, mudanças e exportações, com data e endereço.',
        '/auditoria',
        'historico registro log',
      ),
    ],
  },
]
