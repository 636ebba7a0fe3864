/** Ids of the families; tables by family must list each of them. */
export type FamilyId = 'nfe' | 'cte'
