import type { ChangeEvent, ClipboardEvent, ComponentProps } from 'react'
import { Input } from './input.tsx'
import { maskPhone, phoneDigits } from './phone.ts'

/** A Brazilian phone number, masked while it is typed. */
export function PhoneInput({ onChange, ...rest }: Omit<ComponentProps<'input'>, 'type'>) {
  return (
    <Input
      {...rest}
      type="tel"
      autoComplete="tel-national"
      placeholder="(11) 99999-9999"
      maxLength={15}
      onPaste={paste}
      onChange={(event: ChangeEvent<HTMLInputElement>) => {
        remask(event.target)
        onChange?.(event)
      }}
    />
  )
}

// The field is 15 characters long; a number pasted with its country code would lose its end.
function paste(event: ClipboardEvent<HTMLInputElement>) {
  event.preventDefault()
  const input = event.currentTarget
  const { value, selectionStart, selectionEnd } = input
  const pasted = event.clipboardData.getData('text')
  const text = maskPhone(value.slice(0, selectionStart ?? 0) + pasted + value.slice(selectionEnd ?? 0))
  // Unlike an assignment to `value`, React sees this as typed.
  input.setRangeText(text, 0, value.length, 'end')
  input.dispatchEvent(new Event('input', { bubbles: true }))
}

// The mask moves characters; the caret stays behind the same digit.
function remask(input: HTMLInputElement) {
  const before = phoneDigits(input.value.slice(0, input.selectionStart ?? input.value.length)).length
  input.value = maskPhone(input.value)
  let caret = 0
  for (let digits = 0; digits < before && caret < input.value.length; caret++) {
    if (/\d/.test(input.value[caret] ?? '')) digits++
  }
  input.setSelectionRange(caret, caret)
}
