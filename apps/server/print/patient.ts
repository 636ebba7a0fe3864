import { getPriority, setPriority } from 'node:os'

// What a thread loads first whose work nobody waits for: others go before it where they want the same processor, and it has all that they leave. Only Linux has a
// priority for each thread; elsewhere this would be that of the whole program.
const lower = 5
if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + lower))
