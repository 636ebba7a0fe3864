// Plain JavaScript, for any Node: `npm start` and `npm test` come here first.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Este programa roda no Node 24 que o npm instala com ele (pacote "node"), mas foi aberto com o Node ${process.versions.node}. ` +
      'Rode "npm ci" outra vez, sem --ignore-scripts, e use os comandos do npm (npm start, npm test).',
  )
  process.exit(1)
}
