import type { HttpResponse } from './soap.ts'

const htmlTitles: Record<number, [string, string]> = {
  403: [
    '403 - Forbidden: Access is denied.',
    'You do not have permission to view this directory or page using the credentials that you supplied.',
  ],
  404: [
    '404 - File or directory not found.',
    'The resource you are looking for might have been removed, had its name changed, or is temporarily unavailable.',
  ],
  413: ['413 - Request entity too large', 'The request is larger than the server accepts.'],
  500: [
    '500 - Internal server error.',
    'There is a problem with the resource you are looking for, and it cannot be displayed.',
  ],
  503: ['Service Unavailable', 'HTTP Error 503. The service is unavailable.'],
}

/** An error page in the manner of IIS. */
export function htmlError(status: number): HttpResponse {
  const [title, text] = htmlTitles[status] ?? [`HTTP ${status}`, '']
  const body = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\r\n<html xmlns="http://www.w3.org/1999/xhtml">\r\n<head>\r\n<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"/>\r\n<title>${title}</title>\r\n</head>\r\n<body>\r\n<div id="header"><h1>Server Error</h1></div>\r\n<div id="content"><fieldset>\r\n<h2>${title}</h2>\r\n<h3>${text}</h3>\r\n</fieldset></div>\r\n</body>\r\n</html>\r\n`
  return { status, contentType: 'text/html', body: Buffer.from(body) }
}
