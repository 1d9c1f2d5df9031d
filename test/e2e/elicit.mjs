// A client of the official TypeScript SDK whose user answers forms in one way,
// and which prints what it saw as JSON lines.
//
//   node elicit.mjs legacy|modern HOW TOOL -- COMMAND ARGS...
//
// HOW is once, session, deny, decline, cancel (after a second's thought), fast
// (once, at once), slow (once, when the form was taken back, or where that is never
// said after six seconds), dropped (never) or off (the client shows no forms).
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { setTimeout as wait } from 'node:timers/promises'

const split = process.argv.indexOf('--')
const [era, how, tool] = process.argv.slice(2, split)
const [command, ...args] = process.argv.slice(split + 1)

const see = (what, value) => console.log(JSON.stringify([what, value]))

const client = new Client(
  { name: 'clawai-e2e', version: '1.0.0' },
  {
    capabilities: how === 'off' ? {} : { elicitation: { form: {} } },
    versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
  },
)

if (how !== 'off') {
  client.setRequestHandler('elicitation/create', async ({ params }, ctx) => {
    see('form', params)
    if (params.requestedSchema.properties.name) return { action: 'accept', content: { name: 'Ada' } }
    const back = new Promise((tell) => ctx.mcpReq.signal?.addEventListener('abort', () => tell(see('taken back', true))))
    switch (how) {
      case 'fast': return { action: 'accept', content: { answer: 'once' } }
      case 'slow': await (era === 'legacy' ? back : wait(6000)); return { action: 'accept', content: { answer: 'once' } }
      case 'dropped': await wait(600_000, undefined, { ref: false }); break
      case 'decline':
      case 'cancel': await wait(1000); return { action: how }
    }
    await wait(1000)
    return { action: 'accept', content: { answer: how } }
  })
}

await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit', env: process.env }))
const attempt = async (words) => {
  try {
    // In the modern era no request is open, and no time limit runs, while the
    // user looks at a form.
    const patience = wait(how === 'dropped' ? 8000 : 170_000, undefined, { ref: false }).then(() => { throw new Error('gave up') })
    see('result', await Promise.race([client.callTool({ name: tool, arguments: { words } }, { timeout: 170_000 }), patience]))
  } catch (error) {
    see('error', error.message)
  }
}
await attempt('first')
if (how === 'session' || how === 'fast') await attempt('first')
if (how === 'slow') await wait(3500) // for what must not follow
await client.close()
see('closed', true)
process.exit(0)
