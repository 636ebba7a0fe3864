import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** What stands before several APIs, as one address. */
export interface Front extends AsyncDisposable {
  url: string
  name: string
}

/** A port of this machine that nobody listens on now. */
export async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Shares calls out to the APIs at `ports`: nginx, or where there is none connections in turns. */
export async function openFront(ports: readonly number[], directory: string): Promise<Front> {
  return spawnSync('nginx', ['-v']).status === 0 ? openNginx(ports, directory) : openTurns(ports)
}

// What the API says while its database is down.
const away = JSON.stringify({
  success: false,
  message: 'O sistema está sendo reiniciado.',
  data: null,
  errors: [],
  statusCode: 503,
})

async function openNginx(ports: readonly number[], directory: string): Promise<Front> {
  const port = await findPort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory};`,
  )
  const file = join(directory, 'nginx.conf')
  await writeFile(
    file,
    `worker_processes 1;
daemon off;
pid ${join(directory, 'nginx.pid')};
error_log stderr emerg;
events {}
http {
  access_log off;
  ${temporary.join(' ')}
  upstream api { ${ports.map((one) => `server 127.0.0.1:${one} max_fails=1 fail_timeout=1s;`).join(' ')} keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    error_page 502 504 = @away;
    location @away { default_type application/json; return 503 '${away}'; }
    location / {
      proxy_pass http://api;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
      proxy_connect_timeout 2s;
      proxy_read_timeout 120s;
    }
  }
}
`,
  )
  const root = process.getuid?.() === 0 ? ['-g', 'user root;'] : []
  const nginx = spawn('nginx', ['-p', directory, '-c', file, ...root], { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(nginx, 'exit')
  await waitFor(port)
  return {
    url: `http://127.0.0.1:${port}`,
    name: 'nginx',
    async [Symbol.asyncDispose]() {
      nginx.kill('SIGQUIT')
      setTimeout(() => nginx.kill('SIGTERM'), 2_000).unref()
      await ended
    },
  }
}

async function waitFor(port: number): Promise<void> {
  for (let time = 0; time < 100; time++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('nginx did not start')
}

async function openTurns(ports: readonly number[]): Promise<Front> {
  const open = new Set<Socket>()
  let turn = 0
  const join = (client: Socket, left: number) => {
    const server = connect(ports[turn++ % ports.length]!, '127.0.0.1')
    let isConnected = false
    open.add(client).add(server)
    const end = () => {
      open.delete(server)
      server.destroy()
      // One that is just starting takes no connections; the next one may.
      if (!isConnected && left > 1 && !client.destroyed) return join(client, left - 1)
      open.delete(client)
      client.destroy()
    }
    server.on('error', () => {}).once('close', end)
    client.once('close', () => server.destroy())
    server.once('connect', () => {
      isConnected = true
      client.pipe(server).pipe(client)
    })
  }
  const listener = createServer((client) => {
    client.on('error', () => {})
    join(client, ports.length)
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    name: 'connections in turns',
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
