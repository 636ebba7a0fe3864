import { getAccount } from '@vigia/contract/accounts'
import { mayAs, type RouteDefinition, refusesShared } from '@vigia/contract/route'
import { useScreenQuery } from './query.ts'

/** Whether the person's role allows `atLeast`; true while unknown, because the server decides. */
export function useMay(atLeast: RouteDefinition['atLeast']): boolean {
  const { data } = useScreenQuery(getAccount, {})
  return data?.papel === undefined || mayAs(data.papel, atLeast)
}

/** Whether many people share the login. */
export function useShared(): boolean {
  const { data } = useScreenQuery(getAccount, {})
  return data?.compartilhada === true
}

/** Whether the login is shared, and may therefore not make the call. */
export function useRefused(by: RouteDefinition): boolean {
  return useShared() && refusesShared(by)
}
