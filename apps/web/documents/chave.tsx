import { clsx } from 'clsx'
import { Fragment } from 'react'

/** The chave in groups of four. The gaps are margins: what is selected, searched or copied is the bare key. */
export function ChaveText({ chave, className }: { chave: string; className?: string }) {
  return (
    <span className={clsx('font-mono text-xs tracking-[-0.03em]', className)}>
      {(chave.match(/.{1,4}/g) ?? []).map((group, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a chave never changes and its groups repeat.
        <Fragment key={index}>
          <span className="mr-[0.24em] inline-block">{group}</span>
          <wbr />
        </Fragment>
      ))}
    </span>
  )
}
