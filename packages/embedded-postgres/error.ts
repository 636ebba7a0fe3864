type PostgresErrorCode = 'permission' | 'locked' | 'corrupted' | 'version' | 'no-binaries' | 'start' | 'root'

/** PostgreSQL cannot start; `message` tells people what happened, what is safe and what to do. */
export class PostgresError extends Error {
  override name = 'PostgresError'
  readonly code: PostgresErrorCode

  constructor(code: PostgresErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** Converts a file system error under `path` to a PostgresError; returns other errors unchanged. */
export function fileProblem(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof PostgresError || !('code' in error)) return error
  switch (error.code) {
    case 'EACCES':
    case 'EPERM':
      return new PostgresError('permission', noPermission(path), { cause: error })
    case 'EROFS':
      return new PostgresError(
        'permission',
        `A pasta ${path} está em um disco só de leitura. Nada foi alterado. Escolha outra pasta em DATA_DIR.`,
        { cause: error },
      )
    case 'ENOSPC':
    case 'EDQUOT':
      return new PostgresError('start', noSpace(path), { cause: error })
    case 'ENOTDIR':
    case 'EEXIST':
      return new PostgresError('corrupted', notFolder(path), { cause: error })
    case 'EIO':
      return new PostgresError('corrupted', damaged(path, 'o disco não conseguiu ler um arquivo'), { cause: error })
    default:
      return error
  }
}

/** Converts the last lines of initdb or postgres to a PostgresError. */
export function outputProblem(directory: string, lines: readonly string[]): PostgresError {
  const text = lines.join('\n')
  const said = lastComplaint(lines)
  const cause = new Error(text)
  if (/No space left on device|Disk quota exceeded/.test(text))
    return new PostgresError('start', noSpace(directory), { cause })
  if (/lock file ".*" already exists|pre-existing shared memory block/.test(text))
    return new PostgresError('locked', locked(directory), { cause })
  if (/error while loading shared libraries|cannot execute binary file|not found$/m.test(text))
    return new PostgresError('no-binaries', incompleteBinaries(said), { cause })
  if (/Permission denied|Operation not permitted|Read-only file system|wrong ownership|invalid permissions/.test(text))
    return new PostgresError('permission', noPermission(directory), { cause })
  if (/CATALOG_VERSION_NO/.test(text))
    return new PostgresError('version', otherVersion(directory, 'de outra compilação', ''), { cause })
  if (
    /control file|files are incompatible|checkpoint|could not (open|read|access|find|load|stat) |does not exist|contains errors|invalid page|checksum|PANIC/.test(
      text,
    )
  )
    return new PostgresError('corrupted', damaged(directory, said), { cause })
  return new PostgresError(
    'start',
    `O PostgreSQL não conseguiu iniciar em ${directory} (${said}). Os dados não foram alterados.`,
    { cause },
  )
}

export function locked(directory: string, pid?: number): string {
  const who = pid ? ` (processo ${pid})` : ''
  return `Outra instância já está usando a pasta ${directory}${who}. Nada foi alterado. Encerre a outra ou escolha outra pasta em DATA_DIR.`
}

export function damaged(directory: string, detail: string): string {
  return `Os arquivos do PostgreSQL em ${directory} estão danificados ou incompletos (${detail}). Nada foi apagado nem alterado. Restaure uma cópia de segurança dessa pasta ou escolha outra em DATA_DIR.`
}

export function otherVersion(directory: string, found: string, ours: string): string {
  return `Os dados em ${directory} são do PostgreSQL ${found}, e este programa traz o PostgreSQL ${ours || 'de outra versão'}. Nada foi alterado. Use a versão do programa que criou os dados ou escolha outra pasta em DATA_DIR.`
}

export function incompleteBinaries(detail: string): string {
  return `O PostgreSQL que vem com o programa não roda nesta máquina (${detail}). Rode "npm ci" outra vez ou informe em DATABASE_URL um servidor PostgreSQL 18.`
}

export function notFolder(path: string): string {
  return `No caminho ${path} há um arquivo onde devia haver uma pasta. Nada foi alterado. Tire esse arquivo de lá ou escolha outra pasta em DATA_DIR.`
}

function noPermission(path: string): string {
  return `Sem permissão para ler e gravar em ${path}. Nada foi alterado. Dê acesso ao usuário que roda o programa ou escolha outra pasta em DATA_DIR.`
}

function noSpace(path: string): string {
  return `Não há espaço no disco para o banco de dados em ${path}. Os dados já gravados estão a salvo. Libere pelo menos 200 MB ou escolha outra pasta em DATA_DIR.`
}

function lastComplaint(lines: readonly string[]): string {
  const complaint = lines.findLast((line) => /FATAL|PANIC|ERROR|error:/.test(line)) ?? lines.at(-1) ?? 'sem mensagem'
  return complaint.replace(/^.*?(FATAL|PANIC|ERROR|error):\s*/, '').trim()
}
