// A client of the official TypeScript SDK that uses every feature a server can
// offer, and prints what it saw as JSON lines. Run it twice, once straight at the
// server and once through the proxy: the lines must be equal. An address
// followed by sse is reached by the transport of 2024-11-05.
//
//   node client.mjs everything|filesystem|list DIR -- COMMAND ARGS... | ADDRESS [sse]
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import * as types from '@modelcontextprotocol/sdk/types.js'

const split = process.argv.indexOf('--')
const [story, dir] = process.argv.slice(2, split)
const [command, ...args] = process.argv.slice(split + 1)

const see = (what, value) => console.log(JSON.stringify([what, value]))
const attempt = async (what, run) => {
  try {
    see(what, await run())
  } catch (error) {
    see(what, { error: error.code ?? error.name, message: error.message })
  }
}

const client = new Client(
  { name: 'clawai-e2e', version: '1.0.0' },
  { capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } } },
)

client.setRequestHandler(types.CreateMessageRequestSchema, async ({ params }) => {
  see('sampling', params)
  return { model: 'test-model', role: 'assistant', content: { type: 'text', text: 'the answer' }, stopReason: 'endTurn' }
})
client.setRequestHandler(types.ElicitRequestSchema, async ({ params }) => {
  see('elicitation', params.message)
  return { action: 'accept', content: { name: 'Ada', check: true } }
})
client.setRequestHandler(types.ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///home/user/projects', name: 'projects' }] }))

let logged
const firstLog = new Promise((resolve) => { logged = resolve })
client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => logged(typeof params.data))

const transport = () => {
  if (!command.startsWith('http://')) return new StdioClientTransport({ command, args, stderr: 'inherit', env: process.env })
  const address = new URL(command)
  return args[0] === 'sse' ? new SSEClientTransport(address) : new StreamableHTTPClientTransport(address)
}
await client.connect(transport())
// The SDK forgets who wants to hear of progress when the result is in the same chunk of the pipe, as it is where the machine
// is busy. So this is seen before the SDK. Each once: over HTTP the SDK takes streams up that have ended, and is told again.
const progress = new Map()
const { onmessage } = client.transport
client.transport.onmessage = (message, extra) => {
  if (message.method === 'notifications/progress') progress.set(message.params.progress, message.params)
  return onmessage(message, extra)
}
see('server', client.getServerVersion())
see('capabilities', client.getServerCapabilities())

const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, undefined, options)

const stories = {
  async everything() {
    await attempt('tools/list', async () => (await client.listTools()).tools.map((tool) => tool.name))
    await attempt('echo', () => call('echo', { message: 'häl\u2028lo "\\ 😀' }))
    await attempt('sum', () => call('get-sum', { a: 2, b: 3 }))
    await attempt('sum, wrong type', () => call('get-sum', { a: 'two', b: 3 }))
    await attempt('structured', () => call('get-structured-content', { location: 'Chicago' }))
    await attempt('image', () => call('get-tiny-image'))
    await attempt('annotated', () => call('get-annotated-message', { messageType: 'error', includeImage: true }))
    await attempt('unknown tool', () => call('no-such-tool'))

    await attempt('resources/list', async () => (await client.listResources()).resources.map((r) => r.uri))
    await attempt('templates', () => client.listResourceTemplates())
    await attempt('read', () => client.readResource({ uri: 'demo://resource/dynamic/text/1' }))
    await attempt('read nothing', () => client.readResource({ uri: 'demo://resource/none' }))
    await attempt('subscribe', () => client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' }))
    await attempt('unsubscribe', () => client.unsubscribeResource({ uri: 'demo://resource/dynamic/text/1' }))

    await attempt('prompts/list', () => client.listPrompts())
    await attempt('prompt', () => client.getPrompt({ name: 'args-prompt', arguments: { city: 'Paris' } }))
    await attempt('complete', () => client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'E' },
    }))

    await attempt('sample', () => call('trigger-sampling-request', { prompt: 'Say it', maxTokens: 50 }))
    await attempt('elicit', () => call('trigger-elicitation-request'))
    await attempt('roots', () => call('get-roots-list'))

    await attempt('progress', () => call('trigger-long-running-operation', { duration: 1, steps: 4 }, { onprogress: () => {} }))
    see('progress seen', [...progress.values()].map(({ progress, total }) => ({ progress, total })))

    await attempt('cancel', async () => {
      const stop = new AbortController()
      return call('trigger-long-running-operation', { duration: 30, steps: 60 },
        { signal: stop.signal, onprogress: () => stop.abort('enough') })
    })
    await attempt('after cancel', () => call('echo', { message: 'still here' }))

    await attempt('several at once', () => Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
      n % 2 ? call('echo', { message: `number ${n}` }) : client.readResource({ uri: `demo://resource/dynamic/text/${n}` }))))

    await attempt('level', () => client.setLoggingLevel('debug'))
    await attempt('logging', async () => {
      await call('toggle-simulated-logging')
      return firstLog
    })
    await attempt('ping', () => client.ping())
  },

  async list() {
    await attempt('tools/list', async () => (await client.listTools()).tools)
    await attempt('unknown tool', () => call('no-such-tool'))
    await attempt('ping', () => client.ping())
  },

  async filesystem() {
    await attempt('tools/list', async () => (await client.listTools()).tools.map((tool) => tool.name))
    await attempt('allowed', () => call('list_allowed_directories'))
    await attempt('list', () => call('list_directory', { path: dir }))
    await attempt('read', () => call('read_text_file', { path: `${dir}/notes.md` }))
    await attempt('write', () => call('write_file', { path: `${dir}/new.txt`, content: 'zwei\nZeilen\n' }))
    await attempt('read back', () => call('read_text_file', { path: `${dir}/new.txt` }))
    await attempt('edit', () => call('edit_file', { path: `${dir}/new.txt`, edits: [{ oldText: 'zwei', newText: 'drei' }] }))
    await attempt('several', () => call('read_multiple_files', { paths: [`${dir}/notes.md`, `${dir}/new.txt`] }))
    await attempt('outside', () => call('read_text_file', { path: '/etc/hostname' }))
    await attempt('big', async () => {
      await call('write_file', { path: `${dir}/big.txt`, content: 'x'.repeat(1 << 20) })
      const { content } = await call('read_text_file', { path: `${dir}/big.txt` })
      return content[0].text.length
    })
  },
}

await stories[story]()
await client.close()
see('closed', true)
