import { giveWay } from '../platform/priority.ts'

// What a thread loads first whose work nobody waits for.
giveWay()
