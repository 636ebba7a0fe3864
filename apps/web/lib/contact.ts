import { useLocation, useNavigate } from 'react-router'

/** The contact form opens over whatever page is shown; a letter may link to it. */
export const contactHash = '#contato'

interface Contact {
  open: boolean
  show: () => void
  close: () => void
}

export function useContact(): Contact {
  const navigate = useNavigate()
  const { search, hash, state } = useLocation()
  const open = hash === contactHash
  return {
    open,
    show: () => {
      if (!open) void navigate({ search, hash: contactHash }, { state: { ...state, contact: true } })
    },
    close: () => {
      if (!open) return
      // Who opened it here goes back to where he was; who came by a link has nothing behind him.
      if (state?.contact) void navigate(-1)
      else void navigate({ search, hash: '' }, { replace: true, state })
    },
  }
}
