/** What a name of the wire means, for the reader of the API. */
interface FieldWords {
  description: string
  /** The codes that it takes, where the schema does not say so. */
  enum?: readonly (string | number | boolean)[]
}

const instant = 'Data e hora em ISO 8601, em UTC.'
const local = 'Data e hora local impressas no documento, no formato aaaa-MM-ddTHH:mm:ss; os dois extremos contam.'
const roleSwitch = (role: string, kind: string) => ({
  description: `Mostra ${kind} em que a empresa é ${role}: true ou false (também 1, 0, on, off). Não vindo, fica como está.`,
  enum: ['true', 'false', '1', '0', 'on', 'off'],
})

/** The text of each field; every field of a request has one, and a test checks it. */
export const fieldTexts: Record<string, FieldWords> = {
  email: { description: 'E-mail da conta. Maiúsculas e minúsculas não fazem diferença.' },
  senha: {
    description: 'Senha, de 6 a 100 caracteres; de um arquivo de certificado, a dele, que vale em lugar da lista.',
  },
  senhaAtual: { description: 'A senha em uso.' },
  senhaNovamente: { description: 'A nova senha outra vez.' },
  nome: {
    description:
      'Nome da pessoa, do workspace, da visão ou da chave de API; de uma exportação ou de um certificado, o do arquivo.',
  },
  celular: { description: 'Celular com DDD, 10 ou 11 dígitos; a máscara é ignorada.' },
  idChave: { description: 'A chave de API, como a lista delas a dá.' },
  permissoes: {
    description:
      'O que a chave de API pode: documentos:ler (listas, detalhes, XML, PDF, Alteracoes), documentos:responder (manifestações), empresas:ler, empresas:gerir (cadastro e certificados), exportar.',
  },
  validadeEmDias: { description: 'Por quantos dias a chave de API vale, até 1095. Não vindo, até ser apagada.' },
  papel: {
    description:
      'O que a pessoa é no workspace: administrador (tudo), fiscal (responde, exporta e cuida das empresas, sem certificados), leitura (vê, imprime e exporta) ou auditor (leitura de empresas escolhidas, até um dia).',
  },
  acessoAte: {
    description:
      'Num pedido, o último dia do acesso, como 2026-12-31; numa resposta, o instante em que ele termina. Sem ele, não termina.',
  },
  idPessoa: { description: 'A pessoa, como a Equipe a dá.' },
  idConvite: { description: 'O convite, como a Equipe o dá.' },
  convite: { description: 'O token do link do convite, ou o link inteiro.' },
  exigeSegundoFator: {
    description:
      'true: quem não tem verificação em duas etapas nem passkey só usa a própria conta, até ligar uma delas (também 1, 0, on, off).',
  },
  inicio: { description: 'O começo da chave de API, para reconhecê-la.' },
  criadaPor: { description: 'Quem criou a chave de API; null se não tem mais conta.' },
  validaAte: { description: 'Até quando a chave de API vale; null: até ser apagada.' },
  usadaEm: { description: 'Quando a chave de API foi usada por último, com a precisão de uma hora; null: nunca.' },
  tipoPlano: {
    description: '1 Básico, 2 Profissional; num cadastro, 1 quando não vem. Num pedido também 3, Corporativo.',
  },
  urlAcesso: { description: 'O token do link recebido por e-mail, ou o link inteiro.' },
  token: { description: 'O token: do link recebido por e-mail ou, na resposta do login, o da sessão.' },
  idSessao: { description: 'A sessão a encerrar; sem ela, todas as outras.' },
  empresa: { description: 'Nome da empresa: a de quem escreve, a que recebeu o documento.' },
  mensagem: { description: 'Texto em palavras, de ou para pessoas.' },
  confirmacao: { description: 'Deixe vazio: pessoas não veem este campo.' },
  busca: { description: 'Parte do nome ou do CNPJ, com ou sem máscara e acentos.' },
  id: { description: 'Identificador da empresa; no caminho, o da exportação ou do lote.' },
  idEmpresa: { description: 'Identificador da empresa.' },
  IdEmpresa: { description: 'Identificador da empresa.' },
  Certificado: { description: 'Certificado digital A1 da empresa: arquivo .pfx ou .p12, até 32 kB.' },
  senhas: {
    description:
      'As senhas do lote: uma linha CNPJ;senha para cada certificado (também com vírgula ou tabulação), ou uma só senha para todos. Em cada arquivo tentam-se primeiro as do CNPJ que está no nome dele.',
  },
  totalDeArquivos: {
    description:
      'Quantos arquivos o lote vai ter: até o número de empresas do plano, ou 20 se for menor; nunca mais de 1.000.',
  },
  arquivos: { description: 'Os arquivos .pfx ou .p12, até vinte por chamada e 32 kB cada um.' },
  conteudo: { description: 'O arquivo em base64. A chamada inteira tem até 256 kB.' },
  ultimos: {
    description:
      'true: não vêm outros arquivos para este lote. Sem isso ele se encerra dez minutos depois dos últimos.',
  },
  Logo: { description: 'Logotipo: arquivo PNG de até 600 por 400 pontos e 128 kB. Transparência vira branco.' },
  Senha: { description: 'Senha do arquivo do certificado.' },
  Cnpj: {
    description:
      'CNPJ da filial, quando o certificado é o da matriz, ou da empresa, quando o arquivo traz as de várias. Sem ele, vale o CNPJ do certificado.',
  },
  RazaoSocial: { description: 'Razão social; vem em toda alteração, também quando não muda.' },
  Email: { description: 'E-mail da empresa; vazio apaga o que havia. Não vindo, fica como está.' },
  Uf: { description: 'Código numérico da UF, como 35 para São Paulo. Não vindo, fica como está.' },
  SincronizacaoAutomatica: {
    description: 'Consulta a SEFAZ de hora em hora: true ou false (também 1, 0, on, off). Não vindo, fica como está.',
    enum: ['true', 'false', '1', '0', 'on', 'off'],
  },
  'ConfiguracoesNfe.Emitente': roleSwitch('emitente', 'as NF-e'),
  'ConfiguracoesNfe.Destinatario': roleSwitch('destinatária', 'as NF-e'),
  'ConfiguracoesNfe.Transportador': roleSwitch('transportadora', 'as NF-e'),
  'ConfiguracoesNfe.Terceiro': roleSwitch('terceira', 'as NF-e'),
  'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': {
    description:
      'Registra a Ciência da Operação das NF-e que chegarem daqui em diante: true ou false (também 1, 0, on, off).',
    enum: ['true', 'false', '1', '0', 'on', 'off'],
  },
  'ConfiguracoesCte.Emitente': roleSwitch('emitente', 'os CT-e'),
  'ConfiguracoesCte.Remetente': roleSwitch('remetente', 'os CT-e'),
  'ConfiguracoesCte.Destinatario': roleSwitch('destinatária', 'os CT-e'),
  'ConfiguracoesCte.Expedidor': roleSwitch('expedidora', 'os CT-e'),
  'ConfiguracoesCte.Recebedor': roleSwitch('recebedora', 'os CT-e'),
  'ConfiguracoesCte.Tomador': roleSwitch('tomadora', 'os CT-e'),
  'ConfiguracoesCte.Terceiro': roleSwitch('terceira', 'os CT-e'),
  'CertificadoDigital.Certificado': {
    description: 'Certificado novo, da mesma base de CNPJ: arquivo .pfx ou .p12, até 128 kB.',
  },
  'CertificadoDigital.Senha': { description: 'Senha do certificado novo.' },
  TipoDFe: { description: '0 NF-e, 2 CT-e.', enum: [0, 2] },
  CampoPesquisa: {
    description:
      'Palavras em qualquer ordem; cada uma tem de estar num dos campos: parte do nome de quem emitiu ou da empresa, sem acentos; número; chave de acesso ou dez ou mais caracteres dela; CNPJ ou CPF, ou oito ou mais caracteres dele; valor (16.471,02 ou R$ 500), faixa de valor (>10000, <=500, 1000..2000); data (15/10, 15/10/2026, 10/2026). A chave inteira é achada em qualquer data.',
  },
  ValorDe: { description: 'Só documentos deste valor ou mais, como 1234.56.' },
  ValorAte: { description: 'Só documentos deste valor ou menos, como 1234.56.' },
  Ordem: {
    description:
      'data (de emissão), valor, chegada (aqui), prazo (da próxima resposta; quem não tem vem no fim) ou emitente (nome). Não vindo, data.',
  },
  Sentido: { description: 'asc ou desc. Não vindo, asc em prazo e emitente, desc nas outras.' },
  PaginaAtual: { description: 'Página, a partir de 1; sem ela, a primeira. Uma página além do fim vem vazia.' },
  Status: {
    description:
      '1 Resumo, 2 Autorizada, 3 Cancelada, 4 Desconhecimento, 5 Operação Não Realizada, 6 Confirmação, 7 Carta Correção, 8 Ciência. Omita para ver todos.',
  },
  TipoParticipacao: {
    description:
      '0 Emitente, 1 Destinatário, 2 Transportador, 3 Terceiro, 4 Remetente, 5 Expedidor, 6 Recebedor, 7 Tomador. Omita para ver todas.',
  },
  DataDe: { description: local },
  DataAte: { description: local },
  Acao: { description: 'Só este tipo de ação.' },
  Situacao: {
    description:
      'abertas: sem marca de paga; delas vencidas (antes de hoje, em São Paulo) ou a-vencer; pagas: com a marca. Sem ela, abertas.',
  },
  Emitente: { description: 'O emitente: a raiz do CNPJ (8), o CNPJ (14) ou o CPF (11), sem pontuação.' },
  VencimentoDe: { description: 'Primeiro dia do vencimento, como 2026-11-30.' },
  VencimentoAte: { description: 'Último dia do vencimento, como 2026-11-30.' },
  SemVencimento: { description: 'true: só as parcelas que a nota traz sem data de vencimento.' },
  Calendario: { description: 'O calendário: prazos ou vencimentos. Sem ele, prazos.' },
  calendario: { description: 'O calendário: prazos ou vencimentos. Sem ele, prazos.' },
  raiz: { description: 'A raiz do CNPJ (os 8 primeiros caracteres) ou o CPF inteiro (11 dígitos).' },
  idsParcelas: { description: 'As parcelas, como a lista as dá.' },
  paga: { description: 'true marca, false tira a marca (também 1, 0, on, off).' },
  idDfe: { description: 'Identificador do documento, como a lista o dá.' },
  Empresas: { description: 'ativas: sem os documentos das empresas arquivadas.' },
  PrazoDe: { description: 'Só documentos cuja próxima resposta cabe até este dia ou depois, como 2026-11-30.' },
  PrazoAte: { description: 'Só documentos cuja próxima resposta cabe até este dia ou antes, como 2026-11-30.' },
  PrazoPara: {
    description:
      'A próxima resposta que tem prazo: ciencia, manifestacao (a resposta final) ou desacordo (de um CT-e); sozinho, com o prazo ainda aberto.',
  },
  Marca: { description: 'O que as pessoas do workspace fizeram com os documentos.' },
  Tipo: {
    description:
      'De que é o relatório: compras (NF-e em que a empresa é destinatária), emitidas (por ela) ou fretes (CT-e em que é tomadora).',
  },
  Por: { description: 'Como as linhas se agrupam; fretes só por participante, mes ou trecho.' },
  frase: { description: 'O que se achou, em uma frase, como uma pessoa a lê.' },
  MesDe: { description: 'Primeiro mês de emissão, no formato aaaa-MM.' },
  MesAte: { description: 'Último mês de emissão, no formato aaaa-MM.' },
  idProduto: { description: 'O produto, pelo número que o relatório por produto lhe dá.' },
  Reforma: {
    description:
      'IBS e CBS: `com` em todos os itens, `parcial` em parte deles, `sem` do regime normal, `dispensado` (Simples, MEI ou antes de 2026), ou `achados`: algo neles não fecha.',
  },
  Produto: { description: 'Documentos com este produto, pelo número que os relatórios lhe dão.' },
  NCM: { description: 'Documentos com um item cujo NCM começa assim.' },
  CFOP: { description: 'Documentos com um item deste CFOP.' },
  ContaComo: {
    description:
      'Os documentos que contam num relatório: os que valem (não os cancelados, denegados, substituídos, desconhecidos ou não realizados) e já foram lidos por dentro; de compras, sem devoluções, notas de entrada e notas de crédito e débito.',
  },
  LinhaDoRelatorio: {
    description:
      'Com ContaComo: só os de uma linha do relatório, como grupo e chave: participante:11222333000181 (ou a raiz do CNPJ), uf:PR, trecho:SP-PR, cfop:5102, ncm:48025610 ou produto:7, e classificacao:000001 (cClassTrib). Sem nada depois dos dois pontos: o que não é de nenhum.',
  },
  Alerta: { description: 'Documentos com um alerta aberto: de qualquer faixa, ou de uma.' },
  Mes: { description: 'O mês de emissão, aaaa-MM.' },
  Faixa: { description: 'A faixa do alerta.' },
  Estado: {
    description:
      'abertos: o que ninguém disse que é conhecido, ou que está certo; em-aprendizado (alertas): o que ainda não conta; ou um estado.',
  },
  Regra: { description: 'A regra que disparou, como S01; de fretes, como fr-dobro.' },
  depoisDe: {
    description: 'De onde a lista ou a conferência continua: `proximo` da resposta anterior; sem ele, do começo.',
  },
  idDFe: { description: 'Identificador do documento, como a lista o dá.' },
  estado: { description: 'O estado do alerta.' },
  regra: { description: 'A regra do achado.' },
  certo: { description: 'true diz que está certo, false desfaz (também 1, 0, on, off).' },
  regras: { description: 'Quais motivos ficam conhecidos; sem elas, todos os que o alerta tem.' },
  teto: { description: 'Em reais: documentos mais caros voltam a ser mostrados. Sem ele, vale para qualquer valor.' },
  ate: {
    description:
      'Nos alertas, até quando fica conhecido (aaaa-MM-ddTHH:mm:ss; sem ele, e no máximo, doze meses); nos avisos, o último lido; numa resposta, um instante em ISO 8601.',
  },
  ligada: { description: 'true liga a regra, false a desliga (também 1, 0, on, off).' },
  idConhecido: { description: 'O conhecido, como `Alertas/conhecidos` o dá.' },
  para: { description: 'A resposta que o documento espera.' },
  totalDeEmpresas: { description: 'De quantas empresas são.' },
  empresas: { description: 'Os nomes de até três delas, com o CNPJ onde outra tem o mesmo nome.' },
  anotacoes: { description: 'As observações que pessoas do workspace escreveram, da mais antiga à mais nova.' },
  idObservacao: { description: 'A observação, como `anotacoes` a dá.' },
  apagavel: { description: 'Quem chama pode apagá-la: escreveu-a, ou administra o workspace.' },
  marca: { description: '`lancada`: está na escrita; `entregue`: foi passado a outra pessoa ou sistema.' },
  marcada: { description: '`true` põe a marca, `false` a tira.' },
  conferida: { description: '`true` marca como conferidos, `false` tira a marca.' },
  alteradas: { description: 'Quantos documentos mudaram com isso.' },
  idEvento: {
    description:
      'Identificador do evento dentro do documento, como o histórico o dá; null quando não há o que imprimir.',
  },
  justificativa: { description: 'Motivo, de 1 a 200 caracteres; alguns eventos exigem pelo menos 15.' },
  idsDFe: { description: 'Os documentos, até 300 de cada vez; numa exportação, até 5.000.' },
  tipoDFe: { description: '0 NF-e, 2 CT-e.', enum: [0, 2] },
  idRegra: { description: 'A regra de resposta, como a lista delas a dá; ao guardar, a que muda.' },
  idsRegra: { description: 'Todas as regras de resposta, na ordem em que passam a valer.' },
  ativa: { description: 'Se a regra decide: true ou false (também 1, 0, on, off); true quando não vem.' },
  idsEmpresa: { description: 'As empresas, como a lista delas as dá.' },
  emitentes: { description: 'CNPJ (com todos os estabelecimentos da mesma raiz), raiz de 8 posições ou CPF.' },
  emitenteNovo: { description: 'Se nenhum documento anterior da mesma raiz está aqui.' },
  comAlerta: { description: 'Com um alerta em aberto desta faixa ou mais grave.' },
  valorDe: { description: 'Valor em reais; conta também o próprio.' },
  valorAte: { description: 'Valor em reais; conta também o próprio.' },
  operacao: { description: 'tpNF do emitente: 0 entrada, 1 saída.' },
  finalidades: { description: 'finNFe, de 1 a 6; um resumo não o tem.' },
  cfops: { description: 'Pelo menos um item tem um destes CFOP; um resumo não os tem.' },
  idsPedido: { description: 'As respostas que esperam, como a lista delas as dá; até 300.' },
  aprovar: { description: '`true` aprova, e a resposta é enviada; `false` recusa, ou retira o próprio pedido.' },
  motivo: { description: 'Numa recusa, por quê; numa lista, quem pediu e por que algo ficou de fora.' },
  limite: { description: 'Reais a partir dos quais uma compra precisa de aprovação; null ao guardar: o usual.' },
  grupos: { description: 'Grupos de CNPJ relacionados, cada um uma lista de CNPJ ou raízes.' },
  condicoes: {
    description: 'A quais notas a regra vale: às que cumprem tudo o que está dito.',
  },
  dias: { description: 'De `ciencia-apos`: quantos dias a Ciência espera, de 1 a 8.' },
  idVisao: { description: 'A visão, como a lista delas a dá.' },
  endereco: {
    description:
      'De uma visão, a consulta do endereço da lista, como status=1&ordem=valor; de um arquivo, onde ele está.',
  },
  inicial: { description: 'A navegação de quem chama abre a lista com esta visão.' },
  guardadaPor: { description: 'Quem guardou a visão por último; null se não tem mais conta.' },
  emailNovo: { description: 'E-mail que falta confirmar para ser o da conta; null: nenhum.' },
  guardado: { description: '`true` guarda o texto para todos do workspace, `false` o esquece.' },
  tipoManifestacao: {
    description:
      'NF-e: 1 Ciência, 2 Confirmação, 3 Desconhecimento, 4 Não Realizada. CT-e: 1 Cancelamento, 2 Carta Correção, 610110 Prestação em Desacordo, 610111 Retirar o Desacordo.',
  },
  correcoes: { description: 'Campos de uma Carta de Correção; sem eles, a justificativa vai como observação.' },
  grupoAlterado: { description: 'Grupo do XML do CT-e, como compl.' },
  campoAlterado: { description: 'Campo do grupo, como xObs.' },
  valorAlterado: { description: 'Valor novo do campo.' },
  nroItemAlterado: { description: 'Qual deles, quando o grupo se repete: de 1 a 99.' },
  filtro: {
    description:
      'Tudo o que o filtro da lista encontra: até 100.000 documentos numa exportação, 500 numa impressão. Ou ele, ou idsDFe.',
  },
  xml: { description: 'Leva os XML, como a SEFAZ os entregou. Não vindo, leva.' },
  pdf: { description: 'Leva DANFE e DACTE, de até 5.000 documentos; com tudo, de até 50.000. Não vindo, não leva.' },
  planilha: { description: 'Leva uma planilha com uma linha por documento. Não vindo, leva.' },
  antesDe: { description: 'O `idAviso` do último aviso da página anterior; sem ele, os mais novos.' },
  bilhete: {
    description:
      'O fim do endereço que exportar, imprimir ou link devolveu; vale por dez minutos, o da auditoria por dois.',
  },

  wsId: { description: 'Identificador do workspace.' },
  tela: {
    description: 'Caminho da tela que mostra do que o aviso trata; null quando nenhuma mostra mais do que o texto.',
  },
  outraTela: {
    description:
      'Caminho de outra tela, quando uma não mostra tudo: de NF-e e CT-e que chegaram juntos, a dos CT-e; senão null.',
  },
  challenge: { description: 'O desafio a assinar, em base64url: vale cinco minutos e uma vez.' },
  rpId: { description: 'O nome do site a que a passkey pertence.' },
  passkeys: { description: 'As passkeys da conta; null quando o endereço do sistema não as permite.' },
  idPasskey: { description: 'Identificador da passkey.' },
  rawId: { description: 'Da credencial (WebAuthn): o mesmo que id.' },
  type: { description: 'Da credencial (WebAuthn): sempre public-key.' },
  authenticatorAttachment: {
    description: 'Da credencial (WebAuthn): se o aparelho é o próprio (platform) ou outro (cross-platform).',
  },
  clientExtensionResults: { description: 'Da credencial (WebAuthn); não é usado.' },
  response: { description: 'O que o aparelho respondeu, em base64url (WebAuthn).' },
  clientDataJSON: { description: 'O que o navegador mandou assinar: desafio e origem.' },
  authenticatorData: { description: 'O que o aparelho diz: site, presença, desbloqueio e contador.' },
  signature: { description: 'A assinatura do aparelho.' },
  userHandle: { description: 'O identificador da conta no aparelho; não é usado.' },
  attestationObject: { description: 'A chave pública que o aparelho criou.' },
  transports: { description: 'Como se chega ao aparelho (WebAuthn).' },
  passkey: { description: 'O que a passkey assinou: AuthenticationResponseJSON (WebAuthn).' },
  chave: { description: 'Chave de acesso, 44 posições; desde 2026 pode ter letras.' },
  valor: {
    description:
      'Valor em reais: vNF da NF-e, vTPrest do CT-e, vProd de um item; em SegundaPessoa, a partir de quanto são precisas duas pessoas; depois de um rótulo, as palavras.',
  },
  dataEmissao: { description: 'Data de emissão como o documento a escreve, com o fuso dele.' },
  tipoParticipacao: { description: 'Papel principal da empresa no documento; os códigos são os de TipoParticipacao.' },
  codigoEvento: { description: 'O evento que o status mostra; 100 autorizada sem eventos, 0 só resumo, 302 denegada.' },
  descricaoEvento: { description: 'O evento em palavras.' },
  notaCompleta: { description: 'Se o documento inteiro já chegou; sem ele não há DANFE.' },
  totalDePaginas: { description: 'Páginas do filtro, com 50 itens cada.' },
  totalDeItens: { description: 'Itens do filtro inteiro.' },
  valorTotal: { description: 'Soma dos valores do filtro inteiro, em reais.' },
  tipoDfe: { description: '0 NF-e; qualquer outro, CT-e.' },
  proximaConsulta: { description: `Quando a SEFAZ é consultada de novo; null quando não se sabe. ${instant}` },
  ultimoNsu: { description: 'Última posição (NSU) recebida, 15 dígitos.' },
  causaComum: {
    description: 'O que impede a captura de todas as empresas igualmente, em palavras; null quando não é só isso.',
  },
  providencia: {
    description: 'O que uma pessoa precisa resolver para a captura da empresa continuar; null quando não há.',
  },
  maxNsu: { description: 'Última posição (NSU) que a SEFAZ anunciou, 15 dígitos.' },
  ultimaResposta: {
    description: `Quando a SEFAZ respondeu pela última vez pelo CNPJ; null antes disso, e até o certificado ser aceito. ${instant}`,
  },
  validadeCertificadoA1: { description: `Até quando vale o certificado que seria usado. ${instant}` },
  prazo: {
    description: `O último instante em que a SEFAZ aceita o evento; de um documento, a próxima resposta cujo prazo ainda corre. Null quando não se conhece prazo. ${instant}`,
  },
  codigo: {
    description:
      'De quem entra, o código da verificação em duas etapas: seis dígitos do aplicativo autenticador, ou um código de recuperação. De um documento, o cStat da SEFAZ, quando ela já respondeu; de um item, o código do produto.',
  },
  quando: { description: instant },
  documento: { description: 'O documento como a lista o mostra.' },
  chegadaEm: { description: `Quando o documento apareceu aqui. ${instant}` },
  servico: { description: '`nfe` ou `cte`.' },
  nsu: { description: 'A posição do arquivo, como a completude a mostra em `naoLidos`.' },
  sequencia: { description: 'O número do evento entre os do mesmo código: a `sequencia` de `manifestacoes/{idDfe}`.' },
  eventoEmEnvio: {
    description: 'O evento mais novo que ainda não teve resposta da SEFAZ, em palavras; null sem nenhum.',
  },
  secoes: { description: 'O que o documento diz, por assunto, em palavras para pessoas.' },
  itens: { description: 'Produtos da NF-e; do CT-e, as partes do frete. Vazio para um resumo.' },
  valorUnitario: { description: 'Preço da unidade, escrito para pessoas.' },
  detalhe: { description: 'NCM, CFOP, tributos e o que mais houver, numa linha.' },
  relacionados: { description: 'Documentos que este cita; `idDfe` é null para o que não está aqui.' },
  relacao: { description: 'O que o outro documento é deste, em palavras.' },
  historico: { description: 'O que aconteceu com o documento, do mais novo ao mais antigo.' },
  tpEvento: { description: 'Código do evento; null para o que não é um evento.' },
  autor: { description: 'Quem fez, em palavras.' },
  origem: { description: 'chegada: apareceu aqui; sefaz: a SEFAZ registrou; envio: saiu daqui.' },
  texto: { description: 'Justificativa e o que a SEFAZ respondeu; null sem nada.' },
  protocolo: { description: 'Número do protocolo da SEFAZ; null sem nenhum.' },
  falta: { description: 'De um resumo, o que falta, até quando e como conseguir; null para um documento completo.' },
  idAviso: { description: 'Identificador do aviso.' },
  lido: { description: 'Esta conta já leu, ou é sobre o que esta sessão fez.' },
  temMais: { description: 'Há mais do que esta resposta traz: avisos mais antigos, alterações mais novas.' },
  tipos: {
    description:
      'O que contar: documento-novo, xml-completo, situacao (de um evento), cancelamento, resposta (nossa, decidida).',
  },
  idsEmpresas: {
    description:
      'As empresas: até 200 de um webhook, até 1.000 de uma pessoa ou chave; null ou ausente: todas, também as que vierem.',
  },
  idWebhook: { description: 'Identificador do webhook.' },
  ativo: { description: 'false pausa: nada sai, nada se perde. true reativa: o que esperava sai na hora.' },
  idEntrega: {
    description: 'Identificador da entrega, o mesmo em cada tentativa (Vigia-Id): quem recebe a reconhece por ele.',
  },
  segredo: {
    description:
      'De um webhook, a chave da assinatura (HMAC-SHA256): só aparece aqui, guarde-a. De um calendário, o fim do endereço que `Prazos/calendario` criou. De um aviso por e-mail, o fim do link que o encerra.',
  },
  desde: {
    description:
      'A versao da última chamada: vem o que mudou depois dela. Sem ela, tudo o que está guardado (90 dias); com agora, nenhuma alteração, só a versao de que partir.',
  },
  versao: {
    description: 'Até onde esta resposta vai, para mandar em desde na próxima chamada; de uma alteração, a sua.',
  },
  resposta: {
    description: 'O que a SEFAZ ou o sistema decidiu sobre a manifestação; null nas alterações que não são resposta.',
  },
  naoLidos: { description: 'Quantos avisos esta conta não leu; 100 quer dizer 100 ou mais.' },
  ids: { description: 'Identificadores de documentos, na ordem da lista.' },
  permitidos: { description: 'Os documentos de que o evento sairia.' },
  alertas: {
    description:
      'E-mails sobre alertas: `criticos` na hora (muitos juntos numa mensagem), `resumo` uma vez por dia às 7h de Brasília, os dois, ou `nenhum`.',
  },
  prazos: { description: 'E-mails sobre prazos, às 7h de Brasília: `diario`, `semanal` (às segundas) ou `nenhum`.' },
  ligado: { description: '`true` cria um endereço e encerra o anterior; `false` revoga.' },
  primeiroPrazo: {
    description:
      'Até quando o evento pode ser enviado dos permitidos: o primeiro prazo deles; null quando não se conhece nenhum.',
  },
  impedidos: { description: 'Os que ficariam de fora, cada um com o motivo.' },
  validoAte: { description: `Até quando vale o link ou o certificado. ${instant}` },
  validoDe: { description: `Desde quando vale o certificado. ${instant}` },
  certificado: {
    description: 'O certificado com que a empresa é consultada, que pode ser de outra da mesma raiz; null sem nenhum.',
  },
  titular: { description: 'Nome de quem o certificado é.' },
  emissor: { description: 'A autoridade que emitiu o certificado.' },
  deOutraEmpresa: { description: 'Se foi enviado para outra empresa da mesma raiz de CNPJ.' },
  enviadoPor: { description: 'Nome da pessoa que enviou o certificado.' },
  enviadoEm: { description: instant },
  usos: { description: 'Para que o certificado foi usado, do mais novo ao mais antigo; vinte no máximo.' },
  finalidade: { description: 'O que foi feito com o certificado, em palavras.' },
  temLogo: { description: 'Os documentos que a empresa emite são impressos com um logotipo.' },
  cienciaAutomatica: { description: 'Desde quando, e por vontade de quem, a Ciência sai sozinha; null desligada.' },
  documentosPorDia: { description: 'Cada dia do mês até hoje, pela data de emissão; os dias sem nada também.' },
  dia: { description: 'aaaa-MM-dd.' },
  pendencias: { description: 'O que espera por uma pessoa.' },
  resumos: { description: 'NF-e dos últimos 90 dias, com hoje, de que só chegou o resumo (Status 1).' },
  aguardandoResposta: { description: 'NF-e dos últimos 90 dias, com hoje, só com a Ciência (Status 8).' },
  canceladasNfe: { description: 'NF-e emitidas no mês corrente e canceladas.' },
  canceladosCte: { description: 'CT-e emitidos no mês corrente e cancelados.' },
  vencemNfe: { description: 'NF-e cuja próxima resposta só pode ser dada até amanhã, no máximo.' },
  vencemCte: { description: 'CT-e cuja próxima resposta só pode ser dada até amanhã, no máximo.' },
  valorNfe: { description: 'Soma das NF-e do mês, em reais.' },
  valorCte: { description: 'Soma dos CT-e do mês, em reais.' },
  valorNfeCte: { description: 'Soma das NF-e e dos CT-e da empresa no mês, em reais.' },
  mesAnterior: { description: 'Os mesmos números do mês anterior inteiro.' },
  armazenamentoSaudavel: {
    description: 'false: o que chega não pode ser guardado agora; um dos avisos diz o que acontece.',
  },
  envioRetido: {
    description:
      'true: as primeiras manifestações do ambiente de produção esperam que alguém confira e libere o envio.',
  },
  avisos: { description: 'O que está errado em toda a instalação e interessa a todos; vazio quando nada está.' },
}

/** The tags by the first word of the path, and what belongs to each. */
export const tagTexts: Record<string, string> = {
  health: 'Se o serviço está pronto.',
  Auth: 'Entrar, sair e as sessões abertas.',
  Usuarios: 'Criar a conta e cuidar dela.',
  RecuperarSenha: 'Trocar a senha esquecida, pelo link de um e-mail.',
  Dashboard: 'Os números do mês.',
  Reforma: 'IBS, CBS e IS do mês.',
  DocumentosFiscais: 'NF-e e CT-e recebidos: lista, impressão, manifestação.',
  Chaves: 'Chaves de API, com as quais outros sistemas fazem chamadas.',
  Webhooks: 'Endereços de outros sistemas que são avisados do que muda.',
  Alteracoes: 'O que mudou, em ordem, para um programa que acompanha o workspace.',
  Empresas: 'As empresas, os certificados e a captura.',
  Equipe: 'As pessoas do workspace, o que cada uma pode, e os convites.',
  Convites: 'Aceitar um convite, com o link da mensagem.',
  RegrasDeResposta: 'A quais notas a Ciência vai sem uma pessoa.',
  SegundaPessoa: 'Respostas que só são enviadas com duas pessoas.',
  Alertas: 'Quais documentos parecem errados, e por quê.',
  Relatorios: 'Compras, documentos emitidos e fretes somados pelo que está dentro dos documentos.',
  Fretes: 'O que não fecha nos CT-e que as empresas pagam ou recebem.',
  Prazos: 'Até quando os documentos podem ser respondidos.',
  prazos: 'O calendário que um programa assina.',
  Fornecedores: 'Tudo o que se sabe de quem emite documentos.',
  Vencimentos: 'O que as notas recebidas dizem que há a pagar, e o que as pessoas marcaram como pago.',
  Plano: 'O plano, os limites e o uso.',
  Auditoria: 'Quem fez o quê.',
  avisos: 'O link que encerra e-mails, sem login.',
  Avisos: 'O que as pessoas do workspace foram avisadas.',
  Contato: 'Escrever a quem cuida do produto.',
}

/** What an HTTP status means here. */
export const statusTexts: Record<number, string> = {
  200: 'Deu certo.',
  400: 'A requisição não está certa; `errors` tem uma frase para cada problema.',
  401: 'Sem uma sessão aberta nem uma chave de API que valha, ou credenciais inválidas.',
  402: 'O plano não permite.',
  403: 'É preciso confirmar antes quem usa a sessão, em `Auth/confirmar`; no login, falta o `codigo`; o papel da pessoa ou a chave de API não tem a permissão, ou a chamada é só de pessoas.',
  404: 'Não existe, ou é de outro workspace.',
  409: 'O que já existe, ou o estado do documento, não permite.',
  410: 'Já não vale: expirou ou foi usado.',
  413: 'Grande demais: o corpo de uma chamada tem até 256 kB, sem login até 16 kB; um arquivo até 128 kB.',
  429: 'Tentativas ou chamadas demais; `Retry-After` diz quantos segundos esperar.',
  500: 'Falha nossa. O código no fim da mensagem é o de `x-request-id`.',
  503: 'Sobrecarga ou manutenção; a mesma chamada pode dar certo daqui a pouco.',
}

/** What the headers about the number of calls of a key say. */
export const rateTexts: Record<string, string> = {
  'ratelimit-limit': 'Quantas chamadas a chave pode fazer em um minuto.',
  'ratelimit-remaining': 'Quantas ainda pode fazer neste minuto.',
  'ratelimit-reset': 'Em quantos segundos a conta recomeça.',
}

/** What holds for every call. */
export const introduction = `Captura, guarda e mostra as NF-e e os CT-e emitidos contra as empresas do workspace.

- **Envelope.** Toda resposta em JSON tem \`success\`, \`message\`, \`data\` e \`errors\`; uma falha tem também \`statusCode\`. As mensagens são em português, para mostrar às pessoas.
- **Sessão.** \`POST /v1/api/Auth\` devolve o token, que vai em \`Authorization: Bearer …\`. Ela vale até sair, até a senha mudar ou até o prazo.
- **Chave de API.** Um programa usa no lugar da sessão uma chave, \`Authorization: Bearer vigia_…\`, que as pessoas criam em Integrações. Cada chamada que a aceita diz de qual permissão ela precisa (\`chave\`); as outras respondem 403. São 120 chamadas por minuto e chave.
- **Identificadores** são textos sem significado; os de outro workspace não existem (404).
- **Parâmetros** vazios contam como omitidos; um parâmetro repetido ou desconhecido e um campo repetido são 400.
- **Números, true e false** valem também como texto: \`"1"\` é \`1\`.
- **\`x-request-id\`** vem em toda resposta; informe-o ao pedir ajuda.`
