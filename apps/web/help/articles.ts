import { hasPlans } from '../lib/site.ts'

/** An article of the help: a question, a message or a term. */
export interface Article {
  /** Its name in the address: /help#656. */
  id: string
  title: string
  /** Code of the authority, shown after the text. */
  code?: string
  body: readonly string[]
  /** Lines of a program, shown as they are below the words. */
  program?: string
  /** Other words that people look for. */
  keywords?: string
  link?: { to: string; words: string }
}

const endedPlan: Article = {
  id: 'plano-encerrado',
  title: 'A captura está pausada porque o teste ou o plano terminou',
  body: [
    'Nada é consultado na SEFAZ, e o que já foi guardado continua disponível. Com um plano ativo a captura continua de onde parou, desde que seja a tempo: a SEFAZ guarda cada documento por cerca de 90 dias e, depois de 60 dias sem consulta, deixa de numerar os novos.',
  ],
  keywords: '402 plano teste terminou expirou pagar assinatura limite empresas',
  link: { to: '/conta#plano', words: 'Ver o seu plano' },
}

/** Five questions (section 2). */
export const questions: readonly Article[] = [
  {
    id: 'captura',
    title: 'Como funciona a captura automática?',
    body: [
      'Com o certificado digital A1 da empresa, perguntamos à SEFAZ o que há de novo 24/7, de dia e de noite. Quando ela responde que não há mais nada, a próxima pergunta só é permitida uma hora depois: por isso a tela mostra quando foi a última consulta e quando será a próxima.',
      'Uma nota pode levar algumas horas da emissão até a entrega. A primeira captura traz até cerca de três meses, ou nada, se o CNPJ ainda não era consultado. A SEFAZ não entrega por esse serviço as NF-e que a própria empresa emitiu nem NFC-e.',
    ],
    keywords: 'automatico consulta tempo real demora horario hora atraso sincronizacao 24 horas nao chegou',
    link: { to: '/empresas', words: 'Ver a última e a próxima consulta de cada empresa' },
  },
  {
    id: 'armazenamento',
    title: 'Por quanto tempo os documentos ficam guardados?',
    body: [
      `O armazenamento é ilimitado e vitalício: sem limite de quantidade e sem data para apagar. O XML fica guardado exatamente como a SEFAZ entregou.${hasPlans ? ' Quando o teste ou o plano termina, nada novo chega, mas o que já chegou continua disponível para consulta, impressão e exportação.' : ''}`,
      'A SEFAZ guarda cada documento por cerca de 90 dias. Uma empresa que não é capturada nesse tempo perde o que passou.',
      'Para ir embora, ou apagar tudo, veja “Como saio, com tudo ou apagando tudo?”.',
    ],
    keywords: 'armazenamento ilimitado vitalicio espaco nuvem cinco anos apagar excluir backup prazo retencao',
    ...(hasPlans && { link: { to: '/conta#plano', words: 'Ver o seu plano' } }),
  },
  {
    id: 'adicionar-empresa',
    title: 'Como adiciono uma empresa?',
    body: [
      'Em Empresas, escolha Nova Empresa, envie o arquivo .pfx ou .p12 do certificado A1 e digite a senha dele. O CNPJ e a razão social vêm do próprio certificado, e a captura começa sozinha.',
      'O certificado da matriz serve a todas as filiais com a mesma raiz de CNPJ (os oito primeiros caracteres). A senha do certificado não fica guardada, e o arquivo nunca é oferecido para baixar.',
      'Para muitas de uma vez, arraste todos os arquivos para a lista de Empresas, com um arquivo CSV das senhas se houver (uma linha CNPJ;senha para cada um). Certificado de empresa já cadastrada é renovado; os demais cadastram a empresa; o servidor continua sem a página aberta, e o sino avisa quando terminar.',
    ],
    keywords:
      'cadastrar empresa nova cnpj filial matriz certificado a1 pfx p12 senha varios muitos lote csv planilha escritorio',
    link: { to: '/empresas/nova', words: 'Cadastrar uma empresa' },
  },
  {
    id: 'auditoria',
    title: 'O que fica guardado serve para uma auditoria?',
    body: [
      'O XML é o original, byte a byte, com a assinatura do emitente e o protocolo da SEFAZ. O DANFE e o DACTE são desenhados a partir dele. A completude de cada empresa mostra, mês a mês, quais posições da SEFAZ foram recebidas, quais faltaram e por quê.',
      'A auditoria registra quem fez o quê e quem baixou ou abriu arquivos, quando e de onde. O sistema só acrescenta registros, não muda nem apaga nenhum; “Exportar tudo em CSV” leva todos. Se um documento basta como prova em um caso, quem decide é o seu contador ou o fisco.',
    ],
    keywords: 'fiscalizacao prova compatibilidade sped original assinatura completude contador fisco',
    link: { to: '/auditoria', words: 'Abrir a auditoria' },
  },
  {
    id: 'exportacao',
    title: 'Posso exportar muitos documentos de uma vez?',
    body: [
      'Sim. Na lista de notas ou de CTe, filtre o que precisa, selecione documentos ou o filtro inteiro e escolha Exportar. Você recebe um ZIP com os XML, os PDF e uma planilha, em pastas por empresa, mês e tipo.',
      'Na planilha os valores são números, as datas são datas e as chaves são texto. De cada vez vão até 100.000 documentos, ou 5.000 quando se levam os PDF. Você pode sair da tela: o arquivo fica um dia no sino.',
      'Imprimir junta o DANFE ou o DACTE de cada documento escolhido num só PDF, com um marcador para cada um, e abre a impressão do navegador. De cada vez vão até 500. Para levar tudo o que a conta guarda, com PDF de até 50.000 documentos, há “Exportar todos os dados” em “Minha conta”.',
    ],
    keywords: 'imprimir impressao papel zip lote baixar download xml pdf planilha excel fechamento mes contador todos',
    link: { to: '/notas-fiscais', words: 'Ir para a lista de notas' },
  },
]

/** Messages and situations that people meet on the screen. */
export const situations: readonly Article[] = [
  {
    id: '137',
    title: 'Nenhum documento novo',
    code: '137',
    body: [
      'A SEFAZ respondeu que não há nada novo para o CNPJ. Está tudo bem: a captura está em dia, e a próxima consulta acontece sozinha depois de uma hora.',
    ],
    keywords: 'nenhum documento localizado em dia vazio',
  },
  {
    id: '138',
    title: 'Documentos recebidos',
    code: '138',
    body: [
      'A SEFAZ entregou documentos. Eles são guardados antes que a captura avance, e aparecem nas listas sozinhos. Enquanto houver mais, as páginas seguintes vêm uma depois da outra.',
    ],
    keywords: 'documento localizado progresso recebendo posicao',
  },
  {
    id: '656',
    title: 'Captura bloqueada por uma hora (consumo indevido)',
    code: '656',
    body: [
      'A SEFAZ bloqueia um CNPJ por uma hora quando ele é consultado demais ou fora de ordem. Quase sempre a causa é outro programa usando o mesmo certificado: o ERP, o sistema do contador, um emissor.',
      'Não é preciso fazer nada agora, e os documentos já guardados estão seguros. Perguntar durante o bloqueio recomeça a hora; por isso a captura espera sozinha até o fim dele, que a tela mostra. Se acontecer todo dia, descubra que outro programa consulta com este certificado e desligue a consulta em um dos dois.',
      'O que o outro programa recebeu no nosso lugar é buscado depois, um a um, até vinte por hora.',
    ],
    keywords: 'bloqueio bloqueada bloqueado consumo indevido rejeicao outro sistema erp lacuna faltam notas',
    link: { to: '/empresas?so=problema', words: 'Ver até quando dura o bloqueio' },
  },
  {
    id: '593',
    title: 'O certificado é de outra empresa',
    code: '593',
    body: [
      'Os oito primeiros caracteres do CNPJ do certificado não são os da empresa consultada. Envie um certificado A1 da própria empresa, ou da matriz dela.',
    ],
    keywords: 'cnpj base difere certificado 472 473',
    link: { to: '/empresas', words: 'Escolher a empresa e trocar o certificado' },
  },
  {
    id: '589',
    title: 'A nossa posição está à frente da que a SEFAZ conhece',
    code: '589',
    body: [
      'A SEFAZ numera os documentos de cada CNPJ, e a nossa consulta partiu de um número que ela ainda não deu. A captura para, para que nada seja pulado. Em um CNPJ novo isso pode só querer dizer que ela ainda não tem documentos para ele.',
      'Os documentos já guardados estão seguros. Fale com a gente: quem cuida do sistema precisa conferir.',
    ],
    keywords: 'nsu superior ao maior ultnsu maxnsu captura parada',
  },
  {
    id: '573',
    title: 'A resposta já estava registrada',
    code: '573',
    body: [
      'O evento que você enviou já existe na SEFAZ: alguém, ou outro programa, já tinha respondido a esta nota da mesma forma. Não é uma falha, e não é preciso enviar de novo.',
      'Em uma resposta final (Confirmação, Desconhecimento ou Operação não Realizada) a SEFAZ não diz qual resposta vale, porque o outro sistema pode ter respondido de outra forma depois. Por isso a sua sai de novo, com o número 2, e passa a valer. Se esse número também já tiver sido usado, o documento mostra “sem confirmação da SEFAZ”: consulte a nota no portal nacional ou envie outra resposta.',
    ],
    keywords: 'sem confirmacao outro sistema duplicidade de evento ja registrada manifestacao repetida rejeicao',
  },
  {
    id: '217',
    title: 'O documento não consta na SEFAZ',
    code: '217',
    body: [
      'A SEFAZ consultada não encontrou a chave. Pode ser um documento muito recente, que ainda não chegou ao serviço nacional, de outro ambiente, ou uma chave digitada com erro. Confira a chave e tente de novo mais tarde; se a mercadoria estiver na porta, peça o XML ao fornecedor.',
    ],
    keywords: 'nfe inexistente cte nao consta base nao encontrado chave errada',
  },
  {
    id: '640',
    title: 'Este CNPJ não pode ver o documento',
    code: '640',
    body: [
      'A SEFAZ só mostra um documento a quem aparece nele: destinatário, transportador, tomador ou quem o emitente autorizou. Confira se a empresa certa está cadastrada. Para ser autorizado, o seu CNPJ ou o do contador precisa constar no XML, no campo autXML, o que só o emitente faz.',
    ],
    keywords: 'sem permissao interessado consultar nfe autxml nao autorizado',
  },
  {
    id: '596',
    title: 'O prazo da resposta terminou',
    code: '596',
    body: [
      'A SEFAZ não aceita mais esta resposta para a nota. Nada foi registrado, e a nota continua como estava. Os prazos mudam com o tipo da resposta e com a data da nota; a lista mostra o de cada uma enquanto ele está aberto.',
    ],
    keywords: 'prazo vencido fora do prazo manifestacao atrasada evento apos',
  },
  {
    id: '108',
    title: 'O serviço da SEFAZ está fora do ar',
    code: '108 e 109',
    body: [
      'A SEFAZ avisou que o serviço está parado para todos, por pouco tempo (108) ou sem previsão (109). A captura tenta de novo sozinha, e nada se perde: os documentos continuam guardados lá por cerca de 90 dias.',
    ],
    keywords: '109 999 paralisado indisponivel manutencao instavel falha',
  },
  {
    id: 'certificado-vencido',
    title: 'Certificado vencido',
    code: '281',
    body: [
      'Um certificado A1 dura um ano. Depois disso a SEFAZ não atende mais, e a captura da empresa para. Os documentos já guardados estão seguros. Envie o certificado novo na página da empresa; com ele dentro do prazo da SEFAZ, a captura continua de onde parou.',
      'Avisamos por e-mail antes do vencimento, e o Dashboard mostra o que vence em até 30 dias. Para renovar muitos de uma vez, arraste os arquivos novos para a lista de Empresas.',
    ],
    keywords: 'validade expirado renovar renovacao vencimento vence a1',
    link: { to: '/empresas?so=certificado', words: 'Ver os certificados que vencem' },
  },
  {
    id: 'certificado-revogado',
    title: 'Certificado revogado',
    code: '284',
    body: [
      'Uma autoridade certificadora revoga um certificado quando o titular pede, quando a chave pode ter caído em outras mãos ou quando a emissão tinha um erro. A SEFAZ confere isso a cada consulta e recusa o certificado revogado; a captura da empresa para, e a página dela diz por quê. Os documentos já guardados estão seguros. Se você não pediu a revogação, pergunte o motivo à sua certificadora; depois envie o certificado novo na página da empresa.',
    ],
    keywords: 'revogacao lcr perdido roubado comprometido 284 294',
    link: { to: '/empresas?so=problema', words: 'Ver quais têm problema' },
  },
  {
    id: 'certificado-senha',
    title: 'A senha do certificado não abre o arquivo',
    body: [
      'A senha é a que foi criada quando o certificado foi emitido ou exportado, com maiúsculas e minúsculas. Ela não é a senha da sua conta aqui. Se ninguém se lembra dela, exporte o certificado de novo do computador em que ele está instalado, com uma senha nova, ou fale com quem o emitiu.',
    ],
    keywords: 'senha invalida errada incorreta certificado pfx nao abre',
  },
  {
    id: 'certificado-arquivo',
    title: 'Não conseguimos ler o arquivo do certificado',
    body: [
      'Precisamos do arquivo .pfx ou .p12 de um certificado A1, com a chave privada dentro. Um .cer ou .crt não tem a chave; um cartão ou token é A3 e não serve para a captura automática. Arquivos muito antigos também são lidos.',
    ],
    keywords: 'arquivo invalido ilegivel corrompido cer crt a3 token cartao extensao pfx p12',
  },
  {
    id: 'certificado-ecpf',
    title: 'O certificado é de uma pessoa (e-CPF)',
    body: [
      'Para capturar os documentos de uma empresa é preciso um e-CNPJ: um certificado com o CNPJ dela ou da matriz. O e-CPF de um sócio não serve.',
    ],
    keywords: 'ecpf e-cpf pessoa fisica cpf socio 282',
  },
  {
    id: 'certificado-recusado',
    title: 'A SEFAZ não aceitou o certificado',
    code: '280 a 286',
    body: [
      'O certificado pode ter sido revogado, não ser da ICP-Brasil, ou a SEFAZ não conseguiu conferi-lo naquele momento; a página da empresa diz qual. Quando é passageiro, tentamos de novo sozinhos. Quando não é, envie outro certificado.',
    ],
    keywords: 'revogado icp-brasil cadeia transmissor 280 283 284 285 286 recusado',
    link: { to: '/empresas?so=problema', words: 'Ver quais têm problema' },
  },
  {
    id: 'nunca',
    title: '“Nunca” na última sincronização',
    body: [
      `A SEFAZ ainda não respondeu a nenhuma consulta deste serviço para a empresa. Logo depois do cadastro isso dura alguns minutos. Se continuar, a linha da empresa diz o motivo: certificado vencido, bloqueio, sincronização automática desligada ou ${hasPlans ? 'plano encerrado' : 'empresa arquivada'}.`,
      '“Data inválida” quer dizer que a data guardada não pôde ser lida; fale com a gente.',
    ],
    keywords: 'nunca sincronizou ultima sync data invalida nao informado sem consulta',
    link: { to: '/empresas', words: 'Ver a linha de cada empresa' },
  },
  {
    id: 'so-resumo',
    title: 'Só o resumo da nota chegou',
    body: [
      'Para muitas notas a SEFAZ entrega primeiro um resumo: emitente, valor, chave. O XML completo, com os itens, é liberado depois que o destinatário responde com Ciência ou Confirmação, e chega sozinho em seguida. Até lá não há DANFE.',
      'A Ciência pode sair automaticamente, se você ligar essa opção na página da empresa. Ela fica desligada até alguém escolher, porque obriga a uma resposta final depois. Todas têm prazo.',
    ],
    keywords: 'resumo resnfe incompleta sem xml sem danfe visualizar desabilitado botao cinza ciencia automatica',
    link: { to: '/notas-fiscais?status=1', words: 'Ver as notas deste mês só com o resumo' },
  },
  {
    id: 'procurar-dentro',
    title: 'Procurar notas pelo produto, NCM, pedido ou lote',
    body: [
      'A busca das listas também olha dentro dos documentos completos: palavras do nome dos produtos e o começo delas, o código do fornecedor, o GTIN, o NCM, a placa, o número do pedido e o lote. Várias palavras podem estar em campos diferentes da mesma nota. Quando mais de 10.000 documentos têm o que você procura, a lista mostra e soma os mais novos e diz desde quando: escolha um período para ver os outros.',
      'Para dizer o que a palavra é, escreva ncm:4818, cfop:5102 (ou cfop 5102), placa:ABC1D23, pedido:4500 ou lote:L77. O CFOP só é procurado assim, porque está em quase todas as notas. De notas só com o resumo não se conhecem os itens, e os documentos de antes da atualização são lidos aos poucos.',
    ],
    keywords:
      'busca pesquisa produto item mercadoria codigo gtin ean ncm cfop placa veiculo pedido lote rastreabilidade',
    link: { to: '/notas-fiscais', words: 'Abrir as notas' },
  },
  {
    id: 'nao-chegou',
    title: 'Uma nota que eu esperava não está aqui',
    body: [
      'Confira, nesta ordem: o período do filtro (a lista mostra o mês atual), a empresa, e a busca pela chave. Uma nota recente pode demorar algumas horas. Notas que a própria empresa emitiu e NFC-e não vêm por este serviço. A completude da empresa mostra se alguma posição da SEFAZ faltou, e os arquivos que chegaram e não puderam ser lidos.',
    ],
    keywords: 'falta faltando sumiu nao aparece nota perdida procurar lacuna completude',
    link: { to: '/notas-fiscais?periodo=todos', words: 'Procurar em qualquer data' },
  },
  {
    id: 'tentativas',
    title: '“Falha após 4 tentativas”',
    body: [
      'O servidor não respondeu como devia, e tentamos quatro vezes antes de avisar. Nada do que estava guardado mudou. Se foi um envio, confira na lista se ele chegou antes de repetir. Costuma ser a internet do momento ou uma atualização do sistema.',
    ],
    keywords: 'erro conexao rede servidor timeout 30 segundos tente novamente sem conexao',
  },
  {
    id: 'avisos',
    title: 'O que são os avisos que aparecem sozinhos na tela?',
    body: [
      'Com o sistema aberto, você fica sabendo na hora: uma captura trouxe documentos, parou ou voltou ao normal; a SEFAZ respondeu a uma manifestação; uma nota que você confirmou foi cancelada; um documento recebeu um alerta alto ou crítico; um certificado está perto de vencer; uma exportação ficou pronta. As listas e o Dashboard se atualizam junto, sem perder o que você selecionou ou digitou.',
      'O sino, no alto da tela, guarda os avisos de 30 dias e diz quantos você ainda não leu; abrir a lista marca todos como lidos para a sua conta. O que você mesmo acabou de fazer aparece lá sem contar como novo.',
      'Na tela aparecem no máximo dois avisos de cada vez, no canto de baixo, e nenhum enquanto uma janela ou um painel está aberto. Um aviso em vermelho fica até você fechar. Depois de uma ausência, muitos avisos viram um só, que os conta. Se a conexão cai, nada se perde: a tela volta a perguntar sozinha, e o estado de cada empresa continua em Empresas.',
    ],
    keywords: 'aviso notificacao mensagem tempo real toast canto alerta sozinho aparece atualiza sino historico lido',
    link: { to: '/empresas', words: 'Ver o estado de cada empresa' },
  },
  {
    id: 'notas-novas-esperam',
    title: 'Por que as notas novas esperam em “mostrar”?',
    body: [
      'Enquanto você rola a lista, seleciona ou aponta para uma linha, nenhuma linha muda de lugar: assim você não clica na nota errada. O que chegou fica contado acima da lista, em “3 notas novas — mostrar”. Com a lista parada no começo e o mouse fora dela, as novas entram sozinhas.',
    ],
    keywords: 'notas novas mostrar lista parada nao atualiza linha mexe pula lugar',
    link: { to: '/notas-fiscais', words: 'Abrir Notas Fiscais' },
  },
  {
    id: 'sefaz-fora',
    title: 'A SEFAZ está fora do ar: o que faço?',
    body: [
      'Nada: a captura volta sozinha quando a SEFAZ responder, e ela guarda os documentos por cerca de 90 dias. A tela diz isso uma vez, acima das listas; as empresas ficam “Em espera”. Em vermelho fica só o que é de uma empresa, com o botão que resolve, como “Enviar certificado”.',
    ],
    keywords: 'sefaz fora do ar queda indisponivel em espera todas as empresas falha servico parado',
    link: { to: '/empresas', words: 'Ver as empresas' },
  },
  {
    id: 'sessao-expirada',
    title: '“Sessão expirada. Faça login novamente.”',
    body: [
      'Uma sessão dura até 30 dias e termina antes quando fica 7 dias sem uso, alguém a encerra ou a senha é trocada. Depois de entrar, você volta para a mesma tela.',
    ],
    keywords: 'login caiu deslogado sair sessao',
    link: { to: '/conta#sessoes', words: 'Ver as sessões abertas' },
  },
  {
    id: 'confirmar-email',
    title: '“Confirme seu e-mail”: o link não chegou',
    body: [
      'Sem a confirmação a conta não guarda certificados nem recebe avisos por e-mail; o resto funciona. Abra o link da mensagem que enviamos e clique em Confirmar e-mail. Ele vale por 24 horas e uma vez só: “Enviar de novo”, no alto de cada tela, manda outro, até cinco vezes por dia.',
      'Se nada chega, veja a pasta de spam e se o endereço está certo em “Minha conta”. “Esqueceu sua senha?”, na tela de login, também confirma o e-mail quando você cria a senha nova pelo link.',
    ],
    keywords: 'confirmacao verificar endereco cadastro mensagem spam nao recebi nao chegou enviar de novo conta nova',
    link: { to: '/conta#dados', words: 'Ver o e-mail da conta' },
  },
  {
    id: 'equipe',
    title: 'Como outra pessoa entra no sistema sem usar a minha senha?',
    body: [
      'Em “Equipe”, no menu do usuário, quem administra convida por e-mail: o link vale uma vez, por sete dias. Quem já tem conta continua com ela e troca de um workspace para o outro no alto da página; quem não tem cria a sua.',
      'O papel diz o que a pessoa pode. Administrador: tudo. Fiscal: responde e exporta documentos e cuida das empresas, sem os certificados. Leitura: vê, imprime e exporta. Auditor: como a leitura, de empresas escolhidas e até um dia. Fiscal e leitura também podem ser de algumas empresas só: das outras a pessoa não vê documentos, números nem avisos.',
      'Mudar o papel ou tirar alguém vale na hora. O que a pessoa fez fica na auditoria, com o nome dela. Os e-mails de aviso vão para administradores e para fiscais de todas as empresas.',
    ],
    keywords:
      'usuario usuarios convidar convite funcionario permissao acesso papel equipe contador auditor compartilhar senha workspace',
    link: { to: '/equipe', words: 'Abrir a equipe' },
  },
  {
    id: 'conferidas',
    title: 'Como sei quais notas alguém já olhou, e o que combinamos sobre elas?',
    body: [
      'No painel de cada documento, “Marcar como conferida” põe o seu nome e a hora; na lista, selecione várias e use “Conferir”. Em Mais, “Por conferir” mostra as que faltam. A marca é do workspace: a SEFAZ e o emitente não a veem, e ela não responde à nota.',
      'Em “Anotações” fica o que vocês escrevem sobre o documento, com nome e hora. Quem escreveu apaga, e quem administra também. Marca e anotações vão na planilha da exportação.',
      'Também em “Anotações” se marca o que já foi lançado na escrita e o que foi entregue a outra pessoa; na lista, selecione várias e use o botão ao lado de “Conferir”. Se uma dessas notas é cancelada, substituída ou corrigida depois, o sino avisa e o Dashboard conta.',
    ],
    keywords:
      'conferida conferir conferencia lancada lancar entregue visto observacao anotacao comentario recado equipe por conferir marcar',
    link: { to: '/notas-fiscais?marca=por-conferir', words: 'Ver as que faltam conferir' },
  },
  {
    id: 'ibs-cbs',
    title: 'O que o sistema mostra de IBS, CBS e IS?',
    body: [
      'Em 2026 a reforma tributária está em teste: os valores de IBS e CBS nos documentos são informativos, e nada deles se paga nem se aproveita. O fornecedor do regime normal (CRT 3) já os informa; Simples Nacional e MEI estão dispensados em 2026.',
      'Ao abrir um documento, o quadro “IBS, CBS e IS” diz se ele os traz, item por item, e o que não fecha: alíquota diferente da do ano, conta que não dá, código fora da tabela de 08/10/2026. Um código fora da tabela não é um erro: a tabela muda várias vezes por ano.',
      'Em “IBS e CBS” está o mês: quem informou, os fornecedores do regime normal que não informaram, com um texto pronto para enviar a eles, as divergências e as notas de crédito que esperam resposta (evento 211128). Cada número abre os documentos dele, e tudo sai em planilha. Uma nota sem os grupos continua válida.',
      'A resposta às notas de crédito ainda não é enviada por aqui.',
    ],
    keywords:
      'reforma tributaria imposto seletivo cclasstrib cst ibscbs apuracao assistida nota de credito debito simples mei dispensado informativo aliquota teste',
    link: { to: '/reforma', words: 'Ver o mês' },
  },
  {
    id: 'alertas',
    title: 'O que são os alertas?',
    body: [
      'Cada documento que chega é comparado com o que já está aqui: emitente novo com valor alto, valor fora do comum, o mesmo número duas vezes, nota parecida com outra, nome quase igual ao de um fornecedor conhecido, assinatura que não confere, cancelamento depois de conferida. Cada motivo é uma frase com os números, e “Comparar” põe os dois documentos lado a lado.',
      '“Ignorar este motivo” cria uma exceção para o mesmo emitente e a mesma empresa, até o valor e o dia que você disser; falhas de integridade e documentos de teste continuam a aparecer. Nos primeiros trinta dias e trinta documentos de uma empresa, o que depende dos hábitos dela só é mostrado, sem contar.',
      'Enquanto um alerta grave está em aberto, a Ciência automática daquela nota fica suspensa; três dias antes do fim do prazo o sino avisa. Um alerta não acusa ninguém: é um motivo para olhar antes de pagar.',
      '“Baixar evidências” junta num ZIP o XML e os eventos do documento e dos comparados, os motivos e a linha do tempo. Nas regras, quem administra testa cada uma nos últimos 90 dias antes de a ligar, e desliga a que quase nunca acerta.',
    ],
    keywords:
      'evidencia prova zip testar regra precisao alerta suspeita suspeitas fraude golpe duplicada nota fria boleto falso conhecido comparar regras',
    link: { to: '/alertas', words: 'Ver os alertas' },
  },
  {
    id: 'avisos-por-email',
    title: 'Posso receber os alertas e os prazos por e-mail?',
    body: [
      'Em “Minha conta”, Avisos por e-mail, você escolhe. Alertas críticos na hora: o e-mail sai alguns minutos depois, um só para muitos alertas, e no máximo a cada quinze minutos. Resumo diário: todos os alertas novos que continuam em aberto, do mais grave ao mais leve, com os motivos. Prazos: o que termina nos próximos dias, todo dia ou às segundas. Os resumos saem às 7h, no horário de Brasília, e só quando há o que dizer.',
      'Quem administra e os fiscais recebem os críticos na hora, enquanto não escolherem outra coisa; quem só lê não recebe nada antes de escolher. Cada pessoa recebe só o que pode ver, e o que está em aprendizado não vai por e-mail. O link no fim de cada mensagem encerra as daquele tipo, sem login.',
      'Com o sistema aberto, alertas altos e críticos aparecem também no canto da tela e no sino.',
    ],
    keywords:
      'email e-mail aviso resumo diario semanal alerta prazo cancelar descadastrar parar de receber spam notificacao',
    link: { to: '/conta#avisos', words: 'Escolher os avisos' },
  },
  {
    id: 'relatorios',
    title: 'O que os relatórios somam?',
    body: [
      'Em “Relatórios” estão as compras, as notas emitidas que chegaram e os fretes que as empresas pagam, por fornecedor, mês, CFOP, NCM, UF, produto ou trecho, de até doze meses, de uma empresa ou de todas que você vê. Cada linha é comparada com o período anterior e com o mesmo do ano anterior, e em “Ver” você troca os valores pelos impostos. Os números levam aos documentos, onde há uma lista só deles.',
      'Conta só o que vale e está completo: resumos, os cancelados, denegados, substituídos, desconhecidos ou não realizados não entram, e devoluções e notas de crédito e débito recebidas não contam como compras. As linhas e os “Demais” somam o total, que é o dos documentos, ao centavo. O valor dos produtos é o dos itens; frete e impostos por fora ficam em “Demais”. IBS e CBS são informativos em 2026: não são valor a pagar nem crédito.',
      'No relatório por produto, o nome abre o preço médio de cada mês e o de outros fornecedores com o mesmo nome ou o mesmo GTIN. “Baixar planilha” faz o XLSX. “Receber todo mês” manda o relatório do mês que terminou no dia 1º às 7h; o link no fim do e-mail encerra.',
    ],
    keywords:
      'relatorio relatorios compras fornecedor cfop ncm uf produto preco historico imposto icms ipi pis cofins frete trecho planilha xlsx comparar mes ano email mensal',
    link: { to: '/relatorios', words: 'Abrir os relatórios' },
  },
  {
    id: 'auditoria-de-fretes',
    title: 'O que a auditoria de fretes confere?',
    body: [
      'Em “Auditoria de fretes” está o que não fecha nos CT-e que valem, com os documentos por trás. Cobrado em dobro: um CT-e anterior da mesma transportadora, para o mesmo tomador e entre as mesmas cidades, já cobrou todas as notas de um dos dois; duas viagens que juntas não levam mais do que as notas valem não contam. Tomador trocado: a nota diz em modFrete que o frete é do remetente (0) ou do destinatário (1), e o CT-e cobra de outro. Sem nota: o CT-e não cita nenhuma NF-e, ou nenhuma das que cita foi recebida cinco dias depois dele; um resumo basta.',
      'Acima do usual, pelo valor da carga ou por quilo: mais de 2 vezes a mediana de pelo menos 8 viagens anteriores da mesma empresa entre as mesmas cidades, ou, se são menos, entre as mesmas UF. As viagens são as 50 mais novas. Um frete que em reais não passa da mediana não conta: o mínimo da viagem pesa mais em carga pequena, e peso cubado não é peso. Complementos, anulações e substitutos só são conferidos pelo tomador; redespacho e subcontratação, não.',
      '“Aceitar cobrança” tira a divergência da lista enquanto ele disser o mesmo, e pode ser desfeito em “Aceitas”; quem disse fica na auditoria. Nada é enviado sozinho: o painel do CT-e leva ao desacordo, já com o motivo escrito, enquanto cabe um, e uma pessoa lê e envia. “Baixar planilha” faz o XLSX do filtro.',
    ],
    keywords:
      'frete fretes cte dobro duplicado tomador trocado sem nota modfrete mediana quilo valor da carga trecho acima caro conferir transportadora contestar auditoria',
    link: { to: '/fretes', words: 'Abrir a auditoria de fretes' },
  },
  {
    id: 'respostas-por-regra',
    title: 'Posso deixar a Ciência sair sozinha só para alguns fornecedores?',
    body: [
      'Sim. Em “Respostas por regra”, no menu do usuário, quem administra diz a quais notas a Ciência da Operação vai quando chegam, a quais só depois de alguns dias, e em quais perguntamos sempre: por empresa, por emitente, por emitente novo, por valor, por alerta, pela operação ou por CFOP. Uma regra também pode sugerir a Confirmação ou preparar o Desconhecimento: a nota ganha uma marca, e uma pessoa envia. A primeira regra que alcança a nota decide; para as que nenhuma alcança vale o botão de cada empresa.',
      '“Testar” mostra o que a regra teria decidido nos últimos 90 dias, sem guardar nem enviar nada. Cada Ciência registrada diz, nos eventos do documento, qual regra a quis e quem a guardou. A resposta final nunca sai sozinha.',
    ],
    keywords: 'regra regras ciencia automatica fornecedor valor sozinha perguntar ordem testar',
    link: { to: '/respostas', words: 'Abrir as regras' },
  },
  {
    id: 'segunda-pessoa',
    title: 'Respostas acima de um valor podem precisar de duas pessoas?',
    body: [
      'Sim. Em “Aprovações pendentes”, quem administra escolhe o valor. A partir dele, a Confirmação, o Desconhecimento, a Operação não Realizada e o desacordo que alguém pede ficam esperando, e nada é enviado até outra pessoa que possa responder pela empresa aprovar. Quem pediu não aprova o próprio pedido, nem o de uma chave de API sua; pode retirá-lo.',
      'Três dias antes do fim do prazo o sino avisa. Se o valor ou o que uma pessoa pode mudar antes do envio, a resposta volta a esperar. A auditoria e o documento dizem quem pediu e quem aprovou.',
    ],
    keywords: 'aprovar aprovacao segunda pessoa duas pessoas quatro olhos valor alcada limite confirmacao',
    link: { to: '/aprovacoes', words: 'Ver o que aguarda' },
  },
  ...(hasPlans ? [endedPlan] : []),
  {
    id: 'cancelada',
    title: 'O fornecedor cancelou a nota depois que a mercadoria entrou',
    body: [
      'O cancelamento chega pela captura e muda o status da nota para Cancelada; o Dashboard conta as do mês. A Confirmação, enquanto a nota ainda vale, impede que o fornecedor a cancele depois.',
      'Se alguém já a tinha conferido, exportado ou confirmado aqui, a lista e o painel dizem “Mudou depois”, também quando ela é substituída ou corrigida. Em Mais, “Mudaram depois” mostra todas; “Conferir de novo” diz que vocês viram.',
    ],
    keywords: 'cancelamento cancelada 101 110111 estorno devolucao',
    link: { to: '/notas-fiscais?status=3', words: 'Ver as notas canceladas neste mês' },
  },
  {
    id: 'sair',
    title: 'Como saio, com tudo ou apagando tudo?',
    body: [
      `“Exportar todos os dados”, em “Minha conta”, junta num ZIP o que a conta guarda: cada XML como a SEFAZ o entregou, também os escondidos e os que não conseguimos ler, os eventos, planilhas, a auditoria e as configurações; com PDF se você quiser. Acima de 100.000 arquivos são vários ZIP, que se extraem na mesma pasta. Ficam três dias no sino, e um download cortado continua de onde parou. Dá para pedir três vezes por dia, também ${hasPlans ? 'com o teste ou o plano terminado, e ' : ''}enquanto uma exclusão espera.`,
      'Excluir a conta apaga na hora as chaves privadas dos certificados e encerra as outras sessões; a captura para. Empresas, documentos, eventos, auditoria e o seu cadastro são apagados trinta dias depois, e até lá você desiste em “Minha conta”. A conta é de uma pessoa só, e por isso excluí-la apaga também os dados da pessoa.',
      'Depois guardamos apenas registros anônimos, com as datas e quantas empresas e documentos eram, e as cópias de segurança de quem opera o sistema, até vencerem. O que outra conta com o mesmo CNPJ recebeu é dela, e na SEFAZ os documentos continuam registrados.',
      'A lei manda a empresa, e não nós, guardar os documentos fiscais por pelo menos cinco anos: por isso, exporte antes de excluir. As chaves privadas nunca saem daqui; o arquivo .pfx continua com você.',
    ],
    keywords:
      'sair tudo ir embora cancelar exclusao excluir apagar conta portabilidade lgpd backup copia desistir trinta dias levar retencao',
    link: { to: '/conta#sair-com-tudo', words: 'Exportar todos os dados' },
  },
  {
    id: 'integracoes',
    title: 'Como ligo o ERP ou outro sistema?',
    body: [
      'Em Integrações, crie uma chave de API para cada sistema e marque só o que ele precisa: ler documentos, responder, ler ou gerir empresas, exportar. A chave aparece uma vez; quem cuida do outro sistema a guarda na configuração dele e a envia no cabeçalho Authorization: Bearer vigia_… de cada chamada. O login e a senha não saem daqui, e um e-mail avisa você de cada chave criada.',
      'Para acompanhar o que muda, o outro sistema chama GET /v1/api/Alteracoes: guarda a versao que veio e a envia como desde na chamada seguinte, logo em seguida enquanto temMais for verdadeiro. Nada falta e nada se repete, mesmo que ele fique dias parado: as alterações ficam guardadas por 90 dias. Para começar de agora, desde=agora.',
      'Cada chave faz até 120 chamadas por minuto, e delas até 1.000 por hora que mudam algo; RateLimit-Remaining diz quantas faltam, e 429 com Retry-After pede que espere. São até 20 chaves. O que elas fazem está na auditoria. Apagar uma chave em Integrações vale na hora, e um download que ela começou para em segundos.',
    ],
    keywords:
      'api chave integracao integrar erp sistema programa automatizar token alteracoes limite permissao desenvolvedor',
    link: { to: '/integracoes', words: 'Criar uma chave' },
  },
  {
    id: 'webhooks',
    title: 'Como outro sistema é avisado na hora (webhook) e confere a assinatura?',
    body: [
      'Em Integrações, informe o endereço https do outro sistema, o que ele quer saber e de quais empresas. Cada aviso é um POST com idEntrega, tipo e alteracao; o documento ele busca com uma chave, pelo idDfe. Ele responde 2xx em até dez segundos e trabalha depois. Sem isso tentamos de novo, cada vez mais tarde, por três dias; então o webhook para, você recebe um e-mail e, ao reativar, tudo sai na ordem. São até dez endereços.',
      'Quem recebe confere Vigia-Signature sobre os bytes como chegaram, antes de ler o JSON, e recusa um Vigia-Timestamp de mais de cinco minutos. Depois de Trocar segredo vêm duas assinaturas, separadas por vírgula, por 24 horas. O mesmo aviso pode chegar duas vezes, com o mesmo Vigia-Id. Em Node.js:',
    ],
    program: `import { createHmac, timingSafeEqual } from 'node:crypto'

// segredo: o texto inteiro, com whsec_; corpo: os bytes como chegaram.
function confere(cabecalhos, corpo, segredo) {
  const momento = cabecalhos['vigia-timestamp']
  if (!(Math.abs(Date.now() / 1000 - Number(momento)) < 300)) return false
  const certa = createHmac('sha256', segredo).update(momento + '.').update(corpo).digest()
  return cabecalhos['vigia-signature'].split(',').some((uma) => {
    const dada = Buffer.from(uma.trim().replace('v1=', ''), 'hex')
    return dada.length === certa.length && timingSafeEqual(dada, certa)
  })
}`,
    keywords: 'webhook aviso assinatura hmac segredo callback integracao entrega reenviar endereco erp sistema',
    link: { to: '/integracoes#webhooks', words: 'Criar um webhook' },
  },
]

/** Words of the tax manual. */
export const words: readonly Article[] = [
  {
    id: 'nsu',
    title: 'NSU',
    body: [
      'O número que a SEFAZ dá a cada documento na fila de um CNPJ. A captura guarda até onde já foi (ultNSU) e sabe até onde a fila vai (maxNSU).',
    ],
    keywords: 'ultnsu maxnsu posicao numero sequencial',
  },
  {
    id: 'cstat',
    title: 'cStat',
    body: [
      'O código com que a SEFAZ responde, como 138 ou 656. Aqui ele vem depois da explicação, para você poder citá-lo.',
    ],
    keywords: 'codigo status rejeicao',
  },
  {
    id: 'resnfe',
    title: 'Resumo (resNFe)',
    body: ['O que a SEFAZ entrega antes do XML completo: emitente, valor, data e chave, sem os itens.'],
    keywords: 'resnfe resumo resevento',
  },
  {
    id: 'chave',
    title: 'Chave de acesso',
    body: [
      'Os 44 caracteres que identificam uma NF-e ou um CT-e, impressos no DANFE e no DACTE. Desde julho de 2026 podem conter letras na parte do CNPJ.',
    ],
    keywords: 'chave 44 digitos letras codigo de barras',
  },
  {
    id: 'danfe',
    title: 'DANFE e DACTE',
    body: [
      'As folhas que representam a NF-e e o CT-e no papel ou em PDF. O documento que vale é o XML.',
      'Uma Carta de Correção, um cancelamento ou outro evento registrado tem a sua própria folha: abra o documento, depois Eventos, e use Imprimir.',
      'Se montar uma folha demorar demais ou for interrompido, o XML continua guardado e pode ser baixado. Tente de novo em instantes.',
    ],
    keywords:
      'pdf impressao visualizar imprimir evento carta de correcao cc-e cancelamento demorou interrompido fila de impressoes',
  },
  {
    id: 'manifestacao',
    title: 'Manifestação',
    body: [
      'A resposta do destinatário a uma NF-e, registrada na SEFAZ: Ciência, Confirmação, Desconhecimento ou Operação não Realizada.',
    ],
    keywords: 'manifestar evento md-e resposta',
  },
  {
    id: 'ciencia',
    title: 'Ciência',
    body: ['“Sei que esta nota existe.” Libera o XML completo e obriga a uma resposta final depois.'],
    keywords: '210210 ciencia da operacao',
  },
  {
    id: 'confirmacao',
    title: 'Confirmação',
    body: ['A compra aconteceu como está na nota. Também impede que o fornecedor a cancele.'],
    keywords: '210200 confirmacao da operacao',
  },
  {
    id: 'desconhecimento',
    title: 'Desconhecimento',
    body: ['A nota não é nossa: ninguém aqui comprou de quem a emitiu.'],
    keywords: '210220 fraude suspeita',
  },
  {
    id: 'nao-realizada',
    title: 'Operação não Realizada',
    body: [
      'A compra era nossa, mas não aconteceu: devolução na porta, avaria, desistência. Pede um motivo de 15 a 255 caracteres; aqui cabem 200.',
    ],
    keywords: '210240 recusa devolucao',
  },
  {
    id: 'calendario',
    title: 'Prazos no calendário',
    body: [
      'Em "Prazos", "Assinar no calendário" cria um endereço secreto só seu, mostrado uma vez. Cole-o no seu programa de calendário, em "assinar por URL": ele mostra quantos prazos terminam em cada um dos próximos 60 dias, sem nomes.',
      'O endereço pode ser revogado na mesma página, e termina com o seu acesso ao workspace ou quando a sua senha muda.',
    ],
    keywords: 'calendario agenda ics assinar google outlook prazos vencimentos endereco',
  },
  {
    id: 'vencimentos',
    title: 'Vencimentos a pagar',
    body: [
      'Em "Vencimentos" estão as parcelas do grupo de cobrança das notas recebidas, como as notas dizem: por semana, mês ou fornecedor, com as vencidas antes e, por último, as que a nota traz sem data de vencimento. Notas sem esse grupo, resumos e notas canceladas não aparecem.',
      'Marcar como paga é só um controle seu: uma parcela, várias ou um grupo inteiro de uma vez. O nome e a data ficam nela e na auditoria, e a marca pode ser tirada. Nada é pago aqui, e nenhum pagamento é conferido: por isso tudo o que ninguém marcou conta como aberto, também o que venceu há muito tempo.',
      'A planilha leva as parcelas do filtro, e "Assinar no calendário" mostra os próximos 60 dias no seu programa de calendário, sem nomes.',
    ],
    keywords: 'parcelas duplicatas boletos pagar pagas vencidas cobranca planilha xlsx ics',
    link: { to: '/vencimentos', words: 'Ver os vencimentos' },
  },
  {
    id: 'fornecedor',
    title: 'Tudo de um fornecedor',
    body: [
      'No painel de um documento, "Tudo de" e o nome do emitente leva à página dele; na lista, o ícone de loja; na busca rápida (Ctrl+K), o nome. Ela junta todos os CNPJs da mesma raiz: nomes, valor por mês, parte das compras, produtos e preços, situações e respostas, alertas em aberto e o que há a pagar.',
      'IBS e CBS aparecem como os documentos os destacam. Em 2026 são informativos: não são dívida nem crédito.',
    ],
    keywords: 'emitente raiz cnpj precos produtos participacao compras transportadora',
  },
  {
    id: 'desacordo',
    title: 'Prestação em Desacordo',
    body: [
      'Como quem paga o frete contesta um CT-e, em até 45 dias da autorização; a lista e o painel mostram quantos faltam. Para vários de uma vez, selecione na lista e use "Manifestar": a janela traz motivos prontos, de 15 a 255 caracteres, e diz quais CT-e ficam de fora e por quê.',
      'Depois a transportadora pode emitir um CT-e de substituição, ou cancelar se o transporte não começou e não passaram 168 horas. Resolvido de outro modo, o desacordo pode ser retirado no painel. O substituto, o complemento e as notas transportadas aparecem em "Documentos relacionados".',
    ],
    keywords: '610110 610111 frete cte contestar tomador retirar substituicao',
  },
  {
    id: 'carta-correcao',
    title: 'Carta de Correção',
    body: ['Correção de um CT-e ou de uma NF-e pelo emitente, sem mudar valores nem as partes.'],
    keywords: '110110 cc-e carta',
  },
  { id: 'tomador', title: 'Tomador', body: ['Quem paga o frete de um CT-e.'], keywords: 'frete cte participacao' },
  {
    id: 'a1',
    title: 'Certificado A1',
    body: [
      'Um arquivo .pfx ou .p12 com senha, válido por um ano. O A3 fica em cartão ou token e não serve para captura automática.',
    ],
    keywords: 'a3 e-cnpj pfx icp-brasil',
  },
  {
    id: 'sefaz',
    title: 'SEFAZ e Ambiente Nacional',
    body: [
      'SEFAZ é a Secretaria da Fazenda de cada estado. O Ambiente Nacional reúne os documentos de todas e é a ele que a captura pergunta.',
    ],
    keywords: 'secretaria da fazenda receita federal',
  },
  {
    id: 'lacuna',
    title: 'Lacuna e completude',
    body: [
      'Lacuna são posições que a SEFAZ entregou a outro programa e que ainda faltam aqui; elas são buscadas uma a uma. A completude mostra, mês a mês, se falta alguma.',
    ],
    keywords: 'gap faltam buracos completo',
  },
  {
    id: 'procevento',
    title: 'Evento (procEventoNFe)',
    body: [
      'Algo que a SEFAZ registrou sobre um documento depois de emitido: cancelamento, carta de correção, manifestação, passagem por um posto fiscal.',
    ],
    keywords: 'procevento historico',
  },
]
