const written = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="product-name"]')?.content

// The server writes the configured name into index.html; the development server leaves the placeholder.
export const productName = written && !written.startsWith('%') ? written : 'Vigia Fiscal'

export const productVersion = 'v1.0'
