import { getAccount } from '@vigia/contract/accounts'
import { mayAs, type RouteDefinition } from '@vigia/contract/route'
import { useScreenQuery } from './query.ts'

/** Whether the person's role allows `atLeast`; true while unknown, because the server decides. */
export function useMay(atLeast: RouteDefinition['atLeast']): boolean {
  const { data } = useScreenQuery(getAccount, {})
  return data?.papel === undefined || mayAs(data.papel, atLeast)
}

/** Whether the person may change workspace settings: administrators, but not shared logins. */
export function useMayDecide(): boolean {
  const { data } = useScreenQuery(getAccount, {})
  return useMay('administrador') && !data?.compartilhada
}
