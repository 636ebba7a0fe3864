const pictures = [
  [
    'alerta',
    'Comparação da nota suspeita',
    'A nota de um CNPJ parecido com o do seu fornecedor, ao lado de uma nota verdadeira dele, com o motivo em uma frase.',
  ],
  [
    'reforma',
    'IBS e CBS do mês',
    'Quanto foi destacado, que fornecedor não destacou e o texto pronto para pedir a correção.',
  ],
  [
    'empresas',
    'Todas as empresas em uma tela',
    'Última consulta, certificado e situação de cada CNPJ. O que precisa de você vem primeiro.',
  ],
] as const

/** Screens of the product with the demonstration in them; `npm run screenshots -- --site` takes them. */
export function Pictures() {
  return (
    <section aria-labelledby="telas" className="container-page pt-24 max-sm:pt-12">
      <h2 id="telas" className="text-2xl tracking-[-0.01em]">
        Telas do produto
      </h2>
      <ul className="row-on-phone mt-8 grid gap-x-10 lg:grid-cols-3">
        {pictures.map(([name, title, text]) => (
          <li key={name}>
            <img
              src={`/pictures/${name}.webp`}
              alt={`Tela do produto: ${title}`}
              width={1280}
              height={800}
              loading="lazy"
              className="h-auto w-full rounded border border-line"
            />
            <h3 className="mt-3">{title}</h3>
            <p className="mt-1 text-pretty text-base text-muted">{text}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}
