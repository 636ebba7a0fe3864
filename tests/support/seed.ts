import fc from 'fast-check'

// The same cases each time: a change is judged by what it changes. Other cases are looked for on purpose, with SEED=$RANDOM.
fc.configureGlobal({ seed: Number(process.env.SEED ?? 2026) })
