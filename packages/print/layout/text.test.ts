import { expect, test } from 'vitest'
import { goesOn } from '../pdf/canvas.ts'
import { emWidth, roman } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { cut, paragraphs, wrap, wrapName } from './text.ts'

const size = 7
const fits = (line: string, width: number) => (emWidth(winAnsi(line), roman) * size) / 1000 <= width

test('lines break at spaces, fit the width and lose nothing', () => {
  const text = winAnsi('Parafuso sextavado zincado M8 x 40 mm, caixa com cem unidades, norma DIN 933')
  const lines = wrap(text, roman, size, 80)
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.every((line) => fits(line, 80))).toBe(true)
  expect(lines.join(' ')).toBe(text)
})

test('a word longer than the width breaks after a sign, else wherever it must, and says that it goes on', () => {
  const signed = wrap(winAnsi('ABCDEFGHIJ/KLMNOPQRST-UVWXYZ'), roman, size, 60)
  expect(signed).toEqual([`ABCDEFGHIJ/${goesOn}`, `KLMNOPQRST-${goesOn}`, 'UVWXYZ'])
  const plain = wrap(winAnsi('X'.repeat(60)), roman, size, 60)
  expect(plain.join('').replaceAll(goesOn, '')).toBe('X'.repeat(60))
  expect(plain.every((line) => fits(line, 60))).toBe(true)
})

test('a width smaller than a letter still ends', () => {
  expect(wrap(winAnsi('WWW'), roman, size, 1)).toEqual([`W${goesOn}`, `W${goesOn}`, 'W'])
})

test('a cut text continues where it stopped', () => {
  const text = paragraphs('primeiro parágrafo\nsegundo parágrafo que é bem mais longo do que a linha\n\núltimo')
  const whole = cut(text, roman, size, 90, 99).lines
  for (let lines = 0; lines <= whole.length; lines++) {
    const first = cut(text, roman, size, 90, lines)
    const second = cut(first.rest, roman, size, 90, 99)
    expect(first.lines.length).toBe(lines)
    expect([...first.lines, ...second.lines]).toEqual(whole)
  }
})

test('the line breaks of the text are kept and no others invented', () => {
  expect(paragraphs('a\r\nb\nc; d | e')).toEqual(['a', 'b', 'c; d | e'])
})

test('a name leaves no last word alone where the line before can give one', () => {
  const name = winAnsi('Comercial de Ferragens e Parafusos Sul')
  expect(wrap(name, roman, size, 102)).toEqual(['Comercial de Ferragens e Parafusos', 'Sul'])
  expect(wrapName(name, roman, size, 102)).toEqual(['Comercial de Ferragens e', 'Parafusos Sul'])
  expect(wrapName(winAnsi('Ferragens Sul'), roman, size, 32)).toEqual(['Ferragens', 'Sul'])
})
