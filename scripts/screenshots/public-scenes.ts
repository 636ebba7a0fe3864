import { byText, dialog, heading, press, type Scene } from './scene.ts'

export const publicScenes: Scene[] = [
  { name: 'landing', who: 'visitor', path: '/', shows: heading(/capturadas e guardadas/) },
  {
    name: 'landing-menu',
    who: 'visitor',
    path: '/',
    below: 768,
    prepare: press('Abrir menu'),
    shows: (page) => page.getByRole('navigation', { name: 'Menu' }),
  },
  {
    name: 'landing-demo',
    who: 'visitor',
    path: '/',
    prepare: press('Ver Demonstração'),
    shows: dialog('Obrigado pelo interesse'),
  },
  { name: 'contact', who: 'visitor', path: '/#contato', shows: dialog('Fale com a Gente') },
  {
    name: 'contact-errors',
    who: 'visitor',
    path: '/#contato',
    prepare: press('Enviar mensagem'),
    shows: byText('Mensagem é obrigatória'),
  },
  { name: 'login', who: 'visitor', path: '/login', shows: heading('Entrar') },
  {
    name: 'login-errors',
    who: 'visitor',
    path: '/login',
    prepare: press('Entrar'),
    shows: byText('Senha é obrigatória'),
  },
  {
    name: 'login-refused',
    who: 'visitor',
    path: '/login',
    before: (page) =>
      page.route('**/v1/api/Auth', (route) => {
        const message = 'Credenciais inválidas.'
        return route.fulfill({ status: 401, json: { success: false, message, data: null, errors: [message] } })
      }),
    async prepare(page) {
      await page.getByLabel('Email').fill('carla@padaria.example')
      await page.getByLabel('Senha', { exact: true }).fill('outra-senha')
      await press('Entrar')(page)
    },
    shows: byText('Credenciais inválidas.'),
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
    name: 'register-errors',
    who: 'visitor',
    path: '/register?tp=2',
    prepare: press('Cadastrar'),
    shows: byText('Senha é obrigatória'),
  },
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
