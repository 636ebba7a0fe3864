export interface PlanOffer {
  name: string
  price: string
  features: readonly string[]
}

/** Names, prices and limits of section 9, by the `tipoPlano` of the sign-up. */
export const plans: Readonly<Record<1 | 2, PlanOffer>> = {
  1: { name: 'Básico', price: 'R$ 9,97', features: ['1 empresa', '5 mil NFes e CTes guardados por mês'] },
  2: { name: 'Profissional', price: 'R$ 49,87', features: ['Até 10 empresas', 'Armazenamento ilimitado'] },
}
