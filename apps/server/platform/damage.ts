/** What is said of a received file that cannot be unpacked: damaged on the way, or already at the authority. */
export const damagedProblem = 'O arquivo chegou corrompido da SEFAZ (não é possível descompactá-lo).'
