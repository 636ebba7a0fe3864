import { type MemberRole, mayAs, type RouteDefinition } from '@vigia/contract/route'
import { useScreenQuery } from './query.ts'
import { accountQuery } from './response-adapter.ts'

/** How people call what somebody is in a workspace. */
export const memberRoleWords: Record<MemberRole, { label: string; about: string }> = {
  administrador: { label: 'Administrador', about: 'Tudo, também certificados, equipe e integrações.' },
  fiscal: { label: 'Fiscal', about: 'Responde e exporta documentos e cuida das empresas, sem os certificados.' },
  leitura: { label: 'Leitura', about: 'Vê, imprime e exporta.' },
  auditor: { label: 'Auditor', about: 'Vê, imprime e exporta as empresas escolhidas, até o dia escolhido.' },
}

/** Whether the person may make calls for which one has to be `atLeast`; true while that is not known: the server decides. */
export function useMay(atLeast: RouteDefinition['atLeast']): boolean {
  const { data } = useScreenQuery(accountQuery, {})
  return data?.papel === undefined || mayAs(data.papel, atLeast)
}
