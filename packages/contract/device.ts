// Most specific names first, because browsers also name those that they descend from.
const browsers: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const systems: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
]

/** "Chrome no Windows": browser and system, from a user agent; versions are left out. */
export function describeDevice(agent: string | null): string {
  if (!agent) return 'Navegador não informado'
  const find = (table: typeof browsers) => table.find(([mark]) => mark.test(agent))?.[1]
  const browser = find(browsers)
  const system = find(systems)
  if (!browser) return /^[\w.-]{1,40}/.exec(agent)?.[0] ?? 'Outro programa'
  return system ? `${browser} no ${system}` : browser
}

/** Whether a user agent names a telephone or a tablet. */
export function isPhone(agent: string | null): boolean {
  return /\b(?:iPhone|iPad|Android|Mobile)\b/.test(agent ?? '')
}
