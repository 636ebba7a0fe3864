/** Hands a file that is here to the downloads of the browser. */
export function saveFile(blob: Blob, name: string) {
  const url = URL.createObjectURL(blob)
  startDownload(url, name)
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Lets the browser fetch an address as a download, beside whatever the page goes on doing. */
export function startDownload(url: string, name: string) {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}
