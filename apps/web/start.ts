import { askAhead } from './lib/ahead.ts'
import { storedSession } from './lib/stored-session.ts'
import { firstQuestions, preload } from './screens.ts'
import './styles.css'

// The code of the screen and what it will show are asked for at once, and not when React and its company have arrived.
const session = storedSession()
// Whoever has a login sees that it is looked at, from the first moment on.
if (session) document.getElementById('verificando')?.removeAttribute('hidden')
if (session) for (const url of firstQuestions(location.pathname)) askAhead(url, session.token)
void preload(location.pathname)
void import('./main.tsx')
