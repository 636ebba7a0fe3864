/** Saves a file that is already loaded, as a download of the browser. */
export function saveFile(blob: Blob, name: string) {
  const url = URL.createObjectURL(blob)
  startDownload(url, name)
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Starts a download without leaving the page. */
export function startDownload(url: string, name: string) {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}

/** A file name that every operating system accepts. */
export function fileName(title: string): string {
  return title
    .replace(/[\\/:*?"<>|\p{Cc}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 120)
}
