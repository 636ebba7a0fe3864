import { clsx } from 'clsx'
import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { Input } from './input.tsx'

export function PasswordInput({ className, ...rest }: Omit<ComponentProps<'input'>, 'type'>) {
  const [visible, setVisible] = useState(false)
  const Icon = visible ? EyeOff : Eye
  return (
    <div className="relative">
      <Input type={visible ? 'text' : 'password'} className={clsx('pr-11', className)} {...rest} />
      <button
        type="button"
        aria-label={visible ? 'Ocultar o texto digitado' : 'Mostrar o texto digitado'}
        onClick={() => setVisible(!visible)}
        className="absolute inset-y-0 right-0 flex w-10 items-center justify-center rounded-control text-muted hover:text-ink"
      >
        <Icon aria-hidden className="size-4" />
      </button>
    </div>
  )
}
