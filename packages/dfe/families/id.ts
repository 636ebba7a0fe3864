/** The families that the compiler knows: tables by family list each of them. */
export type FamilyId = 'nfe' | 'cte'
