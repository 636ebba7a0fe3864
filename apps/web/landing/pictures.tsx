const pictures = [
  [
    'alerta',
    'Comparação da nota suspeita',
    'A nota de um CNPJ parecido com o do seu fornecedor, ao lado de uma nota verdadeira dele, com o motivo em uma frase.',
  ],
  [
    'reforma',
    'IBS e CBS do mês',
    'Quem informou, quem não informou, e o texto pronto para pedir a correção ao fornecedor.',
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
      <ul className="row-on-phone mt-8 gap-12 max-sm:mt-4 sm:grid">
        {pictures.map(([name, title, text]) => (
          <li key={name} className="items-center gap-x-12 sm:grid sm:grid-cols-[2fr_1fr]">
            <img
              src={`/pictures/${name}.webp`}
              alt={`Tela do produto: ${title}`}
              width={1280}
              height={800}
              loading="lazy"
              className="h-auto w-full rounded border border-line"
            />
            <div>
              <h3 className="mt-3">{title}</h3>
              <p className="mt-1 text-pretty text-muted">{text}</p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
