import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Scene, sizes, themes } from './scene.ts'

/** Name of the picture of a scene. */
export function pictureName({ name }: Scene, width: number, theme: string): string {
  return `${name}-${width}-${theme}.png`
}

/** Writes one page with every picture that is in `folder`, also those of earlier runs. */
export async function writeSheet(folder: string, scenes: readonly Scene[]): Promise<void> {
  const parts = scenes.flatMap((scene) => {
    const pictures = themes.flatMap((theme) =>
      sizes.flatMap((width) => {
        const file = pictureName(scene, width, theme)
        if (!existsSync(join(folder, file))) return []
        return `<a href="${file}"><b><img src="${file}" alt="${scene.name}, ${width} px, ${theme}" loading="lazy"></b>${width} ${theme}</a>`
      }),
    )
    if (pictures.length === 0) return []
    return `<section id="${scene.name}"><h2>${scene.name}</h2><div>${pictures.join('\n')}</div></section>`
  })
  await writeFile(join(folder, 'index.html'), page(parts.join('\n')))
}

function page(content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Screenshots</title>
<style>
  body { margin: 24px; font: 14px system-ui; background: #ddd; color: #222 }
  h2 { margin: 32px 0 8px; font-size: 18px }
  div { display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start }
  a { width: 280px; color: inherit; text-decoration: none }
  b { display: block; height: 360px; overflow: hidden; background: #bbb; font-weight: normal }
  img { display: block; width: 100% }
</style>
${content}
`
}
