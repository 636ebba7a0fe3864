import { readFileSync, readdirSync } from 'node:fs'
import { contentsOf, readDetails } from './packages/dfe/read.ts'
import { findingsOf } from './packages/reform/findings.ts'
const d='/work/shared/data/samples/'
for (const shift of [false,true]) for (const f of readdirSync(d,{recursive:true,encoding:'utf8'}).filter(f=>/^(nfe|cte|invalidos)\/.*xml$/.test(f)).sort()) {
  const det = readDetails(readFileSync(d+f)); if(!det) continue
  const c = contentsOf(det)!
  const real=c.head.dhEmi
  if (shift) { if(real!>='2026') continue; c.head.dhEmi='2026-05-05T10:00:00-03:00' }
  if (shift && c.type==='nfe' && !c.items.some(i=>i.IBSCBS)) continue
  for (const x of findingsOf(c)) console.log(shift?'(as 2026)':'', f, x.code, x.item??'', x.sentence)
}
