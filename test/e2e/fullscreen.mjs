// A full-screen program that is the MCP client and owns the terminal: raw mode, the
// alternate screen, a frame that it repaints and the keys that are typed. Whatever
// it draws is written to a file as well, so that a test can tell whether anybody
// else has drawn. It ends with the result of its one call.
//
//   node fullscreen.mjs DRAWN TOOL ARGUMENTS -- COMMAND ARGS...
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { appendFileSync } from 'node:fs'

const split = process.argv.indexOf('--')
const [drawn, tool, given] = process.argv.slice(2, split)
const [command, ...args] = process.argv.slice(split + 1)

const draw = (text) => {
  appendFileSync(drawn, text)
  process.stdout.write(text)
}
const at = (row, text) => draw(`\x1b[${row};1H\x1b[2K${text}`)

process.stdin.setRawMode(true)
draw('\x1b[?1049h\x1b[2J\x1b[1;1H+--- a program of its own ---+')
let typed = ''
process.stdin.on('data', (keys) => at(3, `typed: ${JSON.stringify(typed += keys)}`))
let frames = 0
const paint = setInterval(() => at(2, `frame ${++frames}`), 50)

const client = new Client({ name: 'fullscreen', version: '1.0.0' }, { capabilities: {} })
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore', env: process.env }))
at(4, 'calling')
const result = await client.callTool({ name: tool, arguments: JSON.parse(given) })
at(5, `result: ${result.isError ? 'refused' : 'done'}`)
await client.close()
clearInterval(paint)
process.stdin.pause()
draw('\x1b[?1049l')
process.stdin.setRawMode(false)
