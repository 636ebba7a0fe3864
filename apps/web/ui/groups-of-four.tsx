import { clsx } from 'clsx'
import { Fragment } from 'react'

/** A long key in groups of four, separated by margins: copying gives it without spaces. */
export function GroupsOfFour({ text, className }: { text: string; className?: string }) {
  return (
    <span className={clsx('font-mono text-xs tracking-[-0.045em]', className)}>
      {(text.match(/.{1,4}/g) ?? []).map((group, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a key never changes and its groups repeat.
        <Fragment key={index}>
          <span className="mr-[0.2em] inline-block">{group}</span>
          <wbr />
        </Fragment>
      ))}
    </span>
  )
}
