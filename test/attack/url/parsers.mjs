// Reads URLs, one JSON text a line, and says where Node would go for each: what
// `fetch` reads (the WHATWG URL standard) and what `url.parse`, on which older
// programs build, does. One JSON line of [parser, scheme, host, port, path] each.
import { createInterface } from 'node:readline'
import legacy from 'node:url'

process.noDeprecation = true
const tidy = (scheme, host, port, path) => [scheme.replace(/:$/, ''), host ?? '', port ?? '', path ?? '']

for await (const line of createInterface({ input: process.stdin })) {
  const url = JSON.parse(line)
  const seen = []
  const look = (name, parse) => {
    try {
      seen.push([name, ...parse()])
    } catch {} // a parser that refuses goes nowhere
  }
  look('node URL', () => {
    const u = new URL(url)
    return tidy(u.protocol, u.hostname, u.port, u.pathname)
  })
  look('node url.parse', () => {
    const u = legacy.parse(url)
    return tidy(u.protocol ?? '', u.hostname, u.port, u.pathname)
  })
  process.stdout.write(JSON.stringify(seen) + '\n')
}
