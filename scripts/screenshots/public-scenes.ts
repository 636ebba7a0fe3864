import { byText, dialog, heading, press, type Scene } from './scene.ts'

export const publicScenes: Scene[] = [
  { name: 'landing', who: 'visitor', path: '/', shows: heading(/capturadas e guardadas/) },
  { name: 'contact', who: 'visitor', path: '/#contato', shows: dialog('Fale com a Gente') },
  { name: 'login', who: 'visitor', path: '/login', shows: heading('Entrar') },
  {
    name: 'login-errors',
    who: 'visitor',
    path: '/login',
    prepare: press('Entrar'),
    shows: byText('Senha é obrigatória'),
  },
  {
    name: 'login-recovery',
    who: 'visitor',
    path: '/login',
    prepare: press('Esqueceu sua senha?'),
    shows: dialog('Recuperar Senha'),
  },
  { name: 'register', who: 'visitor', path: '/register?tp=2', shows: heading('Criar Conta') },
  {
    name: 'new-password-invalid',
    who: 'visitor',
    path: '/atualizar-senha/nada',
    shows: heading('Token Inválido'),
  },
  { name: 'not-found', who: 'visitor', path: '/nada', shows: heading('Oops! Page not found') },
  { name: 'terms', who: 'visitor', path: '/termos', shows: heading('Termos de uso') },
  { name: 'privacy', who: 'visitor', path: '/privacidade', shows: heading('Privacidade') },
  { name: 'cookies', who: 'visitor', path: '/cookies', shows: heading('Cookies') },
]
