import type { MemberRole } from '@vigia/contract/route'

/** Texts of the roles in a workspace. */
export const memberRoleWords: Record<MemberRole, { label: string; about: string }> = {
  administrador: { label: 'Administrador', about: 'Tudo, também certificados, equipe e integrações.' },
  fiscal: { label: 'Fiscal', about: 'Responde e exporta documentos e cuida das empresas, sem os certificados.' },
  leitura: { label: 'Leitura', about: 'Vê, imprime e exporta.' },
  auditor: { label: 'Auditor', about: 'Vê, imprime e exporta as empresas escolhidas, até o dia escolhido.' },
}
