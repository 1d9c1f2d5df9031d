// A server of both protocol eras that writes down what it was told, so that a
// test can see what was done and how often.
//
//   node note-server.mjs FILE
import { appendFileSync } from 'node:fs'
import { McpServer, inputRequired } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const file = process.argv[2]
const text = (words) => ({ content: [{ type: 'text', text: words }] })

serveStdio(() => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.registerTool('note', { inputSchema: z.object({ words: z.string() }) }, ({ words }) => {
    appendFileSync(file, words + '\n')
    return text('noted ' + words)
  })
  // Asks its user something of its own first, in the way of its era.
  server.registerTool('signed_note', { inputSchema: z.object({ words: z.string() }) }, async ({ words }, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.signature
    if (answer === undefined) {
      return inputRequired({
        requestState: 'the server\'s own',
        inputRequests: {
          signature: inputRequired.elicit({
            message: 'who signs?',
            requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
          }),
        },
      })
    }
    appendFileSync(file, `${words}, ${answer.content.name}\n`)
    return text(`noted ${words}, ${answer.content.name}`)
  })
  return server
})
