import { cva, type VariantProps } from 'class-variance-authority'
import { LoaderCircle } from 'lucide-react'
import type { ComponentProps, MouseEvent } from 'react'

/** The look of a button, for links that lead somewhere and must look like one. */
export const buttonClass = cva(
  'print:hidden inline-flex shrink-0 select-none items-center justify-center gap-2 whitespace-nowrap rounded-control font-semibold transition-colors duration-150 disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55 [&_svg]:shrink-0',
  {
    variants: {
      variant: {
        primary: 'bg-brand text-brand-ink usable:hover:bg-brand-hover',
        outline: 'border border-line-strong/70 bg-surface text-ink usable:hover:border-ink usable:hover:bg-sunken',
        ghost: 'text-ink usable:hover:bg-sunken',
        danger: 'border border-error-line bg-error-soft text-error usable:hover:border-error',
      },
      size: {
        sm: 'h-8 px-2.5 text-sm pointer-coarse:h-10',
        md: 'h-9 px-3.5 text-base pointer-coarse:h-11',
        lg: 'h-11 px-5 text-lg',
        icon: 'size-8 pointer-coarse:size-11',
      },
    },
    defaultVariants: { variant: 'primary', size: 'md' },
  },
)

interface ButtonProps extends ComponentProps<'button'>, VariantProps<typeof buttonClass> {
  /** The action is running: the button keeps its focus and ignores further presses. */
  busy?: boolean
}

export function Button({ variant, size, busy = false, className, children, type, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type={type ?? 'button'}
      className={buttonClass({ variant, size, className })}
      // Not disabled, because a disabled button loses the keyboard focus.
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? ignore : onClick}
      {...rest}
    >
      {busy && <LoaderCircle aria-hidden className="size-4 animate-spin" />}
      {children}
    </button>
  )
}

// Also blocks the form, because Enter in a field clicks its button.
function ignore(event: MouseEvent): void {
  event.preventDefault()
}
