/** `passwordCost` of an installation under test: the least that Argon2 takes, because hundreds of accounts are made. */
export const quickPasswords = { memoryCost: 8, timeCost: 1 }
