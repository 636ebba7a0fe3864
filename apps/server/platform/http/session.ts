import type { MemberRole } from '@vigia/contract/route'
import type { Context } from '../context.ts'

export interface Caller {
  address: string
  /** As the program calls itself; empty when it says nothing. */
  agent: string
  /** It asks for the head of a file only. */
  isHead?: true
  /** It has so many bytes of a file already, and wants the rest; `tag`: the name of those bytes, if it tells one. */
  continues?: { from: number; tag: string | null }
}

/** The client of a request. */
export interface Session {
  workspaceId: number
  workspacePublicId: string
  accountId: number
  accountName: string
  /** The account of the person in their home, where what is the person's own is: password, second factor, passkeys, e-mail. */
  home: { workspaceId: number; accountId: number }
  role: MemberRole
  /** The companies that may be seen; null: all. */
  companies: readonly number[] | null
  /** The workspace asks for a second factor or a passkey, and this session was opened without either. */
  lacksFactor: boolean
  /** The last day of the person in the workspace has gone. */
  isAccessOver: boolean
  /** When it goes; null or absent: it has none. */
  accessUntil?: Date | null
  /** Its account is used by many. */
  shared: boolean
  /** Names the session to its owner; the token opens it. */
  publicId: string
  expiresAt: Date
  /** Somebody showed the password of the account, or a code of its second factor, a short while ago. */
  provedLately: boolean
  token: string
  /** No certificate has proved a company of its workspace yet. */
  newcomer?: true
  /** Absent for a shared account, whose addresses are not stored. */
  address?: string
  /** Scopes of an API key, whose id and name the account fields then hold. Absent: a person. */
  scopes?: readonly string[]
}

/** The session that a token opened, or null when it has ended. */
export type Authenticate = (ctx: Context, token: string, caller: Caller) => Promise<Session | null>

/** Whether a person with that role asks: a key may do what its scopes name, and nothing more. */
export const isAdministrator = ({ role, scopes }: Pick<Session, 'role' | 'scopes'>): boolean =>
  role === 'administrador' && scopes === undefined
