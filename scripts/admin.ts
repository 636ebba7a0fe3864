import path from 'node:path'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { rotateMasterKey } from '@vigia/server/operations/signer/rotation'
import { type Config, operate, rebuildAll } from '@vigia/server/start'
import { manageAccounts } from './admin/accounts.ts'
import { manageBackup, restoreDatabase } from './admin/backup.ts'
import { showContacts } from './admin/contacts.ts'
import { manageHold } from './admin/hold.ts'
import { showJobs } from './admin/jobs.ts'
import { showMails } from './admin/mails.ts'
import { notify } from './admin/notify.ts'
import { managePlans } from './admin/plans.ts'
import { wake } from './admin/wake.ts'
import { configure, explain } from './launch.ts'
import { live, StartError } from './lifetime.ts'

const help = `Tarefas de quem cuida do servidor:

  npm run admin -- backup       copia o banco de dados, cifrado, para BACKUP_DIR; listar e conferir as cópias
  npm run admin -- restore      traz o banco de dados de volta de uma cópia
  npm run admin -- rotate-key   troca a chave mestra, que cifra os certificados digitais guardados
  npm run admin -- rebuild      lê de novo tudo o que foi recebido e refaz listas, situações e totais
  npm run admin -- plano        mostra e muda os planos: listar, ativar, encerrar
  npm run admin -- conta        cria ou exclui uma conta com tudo o que ela guarda, desfaz o pedido ou confirma o e-mail dela
  npm run admin -- contatos     mostra o que visitantes escreveram em "Fale com a Gente"
  npm run admin -- emails       mostra os e-mails que não saíram, e por quê
  npm run admin -- jobs         mostra o que o sistema tem a fazer, o que falha e quando é tentado de novo
  npm run admin -- notify       mostra uma mensagem a quem está com o sistema aberto
  npm run admin -- wake         mostra as capturas paradas por motivo, e as acorda
  npm run admin -- restauracao  mostra, libera e segura o que espera para sair
  npm run admin -- --help       mostra esta ajuda, também depois de uma tarefa

backup iniciar [--mesmo-disco]
backup
backup listar
backup conferir [CÓPIA]
  Iniciar, uma vez, faz de BACKUP_DIR o lugar das cópias desta instalação e a primeira cópia; sem isso nada é gravado ali, como no lugar vazio
  de um disco que não está montado. Uma pasta no disco do banco é recusada sem --mesmo-disco.
  O programa no ar copia o banco inteiro toda noite às 3h, cifrado, e guarda trinta cópias; uma vez por semana restaura a mais nova em uma pasta
  à parte, conta tudo e a apaga. Sem palavra, faz uma cópia já, com o programa no ar ou parado; conferir faz o mesmo que a conferência da semana,
  e precisa do espaço do banco.

restore [CÓPIA] [--fazer]
  Com o programa parado e sem um banco em DATA_DIR: o que está no lugar nunca é substituído. Sem --fazer, mostra as cópias e nada faz. Sem o nome
  de uma, restaura a mais nova. O que as pessoas fizeram depois dela se perde. Depois inicie o programa: a captura busca de novo o que
  falta, e manifestações esperam por restauracao liberar. A chave mestra não está nas cópias: ponha no lugar a que estava em uso.

rotate-key
  Pare o programa antes, em todas as máquinas. A troca é feita por inteiro ou não é feita; se for interrompida, rode-a
  outra vez e ela termina.
  Com a chave em DATA_DIR/master.key, a nova é feita sozinha e fica no lugar da antiga, que é apagada.
  Com a chave em MASTER_KEY, informe a nova em NEW_MASTER_KEY (faça uma com: openssl rand -base64 32). Depois ponha-a em
  MASTER_KEY e apague NEW_MASTER_KEY.
  Cópias de segurança do banco feitas antes da troca só abrem com a chave antiga: guarde uma cópia dela com elas.

rebuild
  Para depois de uma atualização que passou a entender mais dos documentos. Nada do que foi recebido muda, e os documentos
  continuam com os mesmos endereços. As empresas são refeitas uma por uma, com o programa no ar: só espera o que chega para
  a que está sendo refeita. Se for interrompido, rode-o outra vez: cada empresa é refeita por inteiro ou fica como estava.

plano listar
plano ativar --email E --tipo basico|profissional|corporativo [--ate AAAA-MM-DD]
plano encerrar --email E
  Com o programa no ar. E é o e-mail de quem tem a conta. Sem --ate o plano não tem data de término; com ela, vale até o fim desse
  dia em São Paulo. Quando um plano é ativado, a captura continua na hora, de onde parou. Quando teste e plano terminam, ela pausa em
  até uma hora; com encerrar, na hora. O que foi guardado fica, e a SEFAZ guarda os documentos novos por cerca de 90 dias.

conta criar --email E --nome N
conta excluir --email E [--agora] [--fazer]
conta manter --email E
conta confirmar --email E
  Com o programa no ar ou parado. Criar mostra a primeira senha: com CADASTRO=convite é assim que a primeira conta nasce. Sem --fazer, diz o que seria apagado. Com --fazer, as chaves privadas dos certificados são apagadas na
  hora, e o resto em trinta dias: até lá, conta manter desfaz o pedido, como a própria pessoa em “Minha conta”. Com --agora também, tudo é
  apagado já, sem volta. O que outras contas guardam do mesmo CNPJ fica. Cópias de segurança ainda têm os dados: quem restaurar uma
  precisa excluir a conta de novo. Confirmar diz, no lugar do link que a pessoa recebe, que o e-mail é dela: só quando ela não o recebe e
  você sabe quem ela é.

contatos
  As mensagens mais novas vêm primeiro. As marcadas como suspeitas preencheram um campo que pessoas não veem: ficam guardadas e
  não são enviadas por e-mail.

emails
  Um e-mail que não sai é tentado de novo por três dias, cada vez com mais espera, e depois é dado como falho; um destinatário que
  o servidor recusa falha na hora. Com "emails tentar", os que falharam voltam para a fila.

notify --workspace ID --header TÍTULO --body TEXTO [--kind sucesso|error|alert] [--count N]
  Com o programa no ar. ID é o wsId que o login devolve. A mensagem aparece na hora a quem está com o sistema aberto; quem perdeu a
  conexão a vê ao reconectar, uma vez por sessão. Sem --kind é sucesso; --count grava a mesma mensagem N vezes, para testes.

wake [--cstat CÓDIGO [--fazer]]
  Com o programa no ar. Um código da SEFAZ que o programa não conhece para cada captura que o recebe, até alguém agir. Sem nada, mostra
  as capturas paradas por código; com --cstat, o que seria feito com as de um código; com --fazer também, acorda todas elas,
  espalhadas por uma hora e nenhuma antes de a SEFAZ permitir.

restauracao
restauracao segurar
restauracao liberar [--sem-ciencia] [--sem-avisos]
  Com o programa no ar. Nenhuma manifestação sai sozinha quando o ambiente de produção começa, depois de restore, e quando o programa volta com
  manifestações à espera depois de mais de duas horas parado: o que foi mudado depois de uma cópia não está nela, como uma Ciência automática que
  alguém desligou. Webhooks e e-mails que já esperavam esperam também. Sem palavra, mostra as opções de cada empresa e o que espera; com liberar,
  tudo sai; com --sem-ciencia, a Ciência automática de todas as empresas é desligada antes; com --sem-avisos, os webhooks e e-mails que já
  esperavam não saem. Segurar faz o mesmo à mão: use-o antes de iniciar o programa com um banco que voltou por outras ferramentas.`

const tasks: Record<string, (config: Config, args: string[]) => Promise<void>> = {
  backup: manageBackup,
  restore: restoreDatabase,
  'rotate-key': rotateKey,
  rebuild,
  plano: managePlans,
  conta: manageAccounts,
  contatos: showContacts,
  emails: showMails,
  jobs: showJobs,
  notify,
  restauracao: manageHold,
  wake,
}
// They check their own arguments.
const withWords = ['backup', 'conta', 'emails', 'notify', 'plano', 'restauracao', 'restore', 'wake']

await live(async () => {
  const [command, ...rest] = process.argv.slice(2)
  const named = command !== undefined && Object.hasOwn(tasks, command)
  if ((command === '--help' && rest.length === 0) || (named && rest.includes('--help'))) return console.log(help)
  const task = named && (rest.length === 0 || withWords.includes(command)) ? tasks[command] : undefined
  if (!task) {
    const names = new Intl.ListFormat('pt-BR', { type: 'disjunction' }).format(Object.keys(tasks))
    throw new StartError(`Use: npm run admin -- ${names}. O que fazem: npm run admin -- --help.`)
  }
  const config = configure()
  await task(config, rest).catch((error: unknown) => {
    throw explain(error, config)
  })
})

function say(text: string): void {
  console.log(`  ${text}`)
}

async function rebuild(config: Config): Promise<void> {
  const work: Parameters<typeof operate<void>>[1] = (ctx) =>
    rebuildAll(ctx, ({ cnpj }, { receipts, documents, events, unread }, place, of) => {
      const found = `${counted(documents, 'documento')} e ${counted(events, 'evento')}, de ${counted(receipts, 'arquivo')}`
      const silent = `${unread} não ${unread === 1 ? 'pôde ser lido' : 'puderam ser lidos'}`
      say(`Empresa ${place} de ${of} (${formatCnpj(cnpj)}): ${found}${unread > 0 ? ` (${silent})` : ''}.`)
    })
  await operate(config, work, say)
  console.log('\nTudo foi lido de novo.')
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

async function rotateKey(config: Config): Promise<void> {
  const count = await rotateMasterKey(config, say)
  const certificates = count === 1 ? '1 certificado foi selado' : `${count} certificados foram selados`
  console.log(`\nA chave mestra foi trocada: ${certificates} com a nova.`)
  console.log(
    config.masterKey
      ? 'Antes de iniciar o programa, ponha em MASTER_KEY o valor de NEW_MASTER_KEY e apague NEW_MASTER_KEY.'
      : `Ela está em ${path.join(config.dataDir, 'master.key')}: faça uma cópia de segurança desse arquivo.`,
  )
}
