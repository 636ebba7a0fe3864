const hmoveto = 22
const vmoveto = 4
const rmoveto = 21

/** A whole number as an operand of a Type 2 charstring (Adobe Technical Note 5177, 3.2). */
export function encodeNumber(value: number): number[] {
  if (value >= -107 && value <= 107) return [value + 139]
  if (value >= 108 && value <= 1131) return [247 + ((value - 108) >> 8), (value - 108) & 255]
  if (value <= -108 && value >= -1131) return [251 + ((-value - 108) >> 8), (-value - 108) & 255]
  return [28, (value >> 8) & 255, value & 255]
}

/** The shortest moveto. */
export function move(dx: number, dy: number): number[] {
  if (dy === 0) return [...encodeNumber(dx), hmoveto]
  if (dx === 0) return [...encodeNumber(dy), vmoveto]
  return [...encodeNumber(dx), ...encodeNumber(dy), rmoveto]
}
