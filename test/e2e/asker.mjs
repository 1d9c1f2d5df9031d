// A client of the official TypeScript SDK that has no terminal, as a desktop
// program has none. It calls a tool and prints, as JSON lines, when it did and
// what came back.
//
//   node asker.mjs TOOL ARGUMENTS -- COMMAND ARGS...
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const split = process.argv.indexOf('--')
const [tool, given] = process.argv.slice(2, split)
const [command, ...args] = process.argv.slice(split + 1)

const client = new Client({ name: 'claude-ai', version: '0.1.0' }, { capabilities: {} })
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit', env: process.env }))
console.log(JSON.stringify(['called', Date.now()]))
const result = await client.callTool({ name: tool, arguments: JSON.parse(given) })
console.log(JSON.stringify(['result', Date.now(), result]))
await client.close()
