// What is said to the server and heard from it. Each request carries the key that
// came for the link, and no cookie: other ports of this machine can read and change
// those, but not what is kept here.

const slot = 'clawai-key'

// Refused is an answer other than success; text is for the person.
export class Refused extends Error {
  constructor(status, text) {
    super(text)
    this.status = status
  }
}

export const known = () => sessionStorage.getItem(slot) !== null

// enter exchanges the token of the link for the key, which works once, and returns the
// path of the tab that the link leads to.
export async function enter(token) {
  sessionStorage.removeItem(slot)
  const { key, start } = await post('/session', { token })
  sessionStorage.setItem(slot, key)
  return start
}

export const view = (path, signal) => ask('GET', `/view${path}`, undefined, signal).then((r) => r.json())

export const details = (id, signal) => ask('GET', `/request/${id}`, undefined, signal).then((r) => r.json())

export const post = (path, body) => ask('POST', path, body).then((r) => r.json())

async function ask(method, path, body, signal) {
  const headers = { 'X-Clawai-Key': sessionStorage.getItem(slot) ?? '' }
  if (body) headers['Content-Type'] = 'application/json'
  const response = await fetch(path, {
    method, headers, signal, body: body && JSON.stringify(body),
    credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer',
  })
  if (!response.ok) throw new Refused(response.status, await reason(response))
  return response
}

async function reason(response) {
  try {
    return String((await response.json()).text)
  } catch {
    return `clawai answered ${response.status}`
  }
}

const shortest = 500 // ms between two attempts to connect
const longest = 10_000

// listen hands every event to on[name] until the server ends it, and connects
// again when the connection is lost. on.state hears "open", "lost" or "ended".
export async function listen(on) {
  for (let wait = shortest; ; wait = Math.min(2 * wait, longest)) {
    try {
      const response = await ask('GET', '/events')
      on.state('open')
      wait = shortest
      await readEvents(response.body, (name, data) => {
        if (name === 'ended') throw new Refused(401, data.text)
        on[name]?.(data)
      })
    } catch (error) {
      if (error instanceof Refused && error.status !== 503) {
        sessionStorage.removeItem(slot)
        on.state('ended', error.message)
        return
      }
      on.state('lost', error instanceof Refused ? error.message : '')
    }
    await new Promise((resume) => setTimeout(resume, wait))
  }
}

// readEvents splits a stream of server-sent events as this server writes them:
// one line with the name, one with the data, one empty.
async function readEvents(body, each) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) throw new Error('the stream ended')
      const parts = (rest + value).split('\n\n')
      rest = parts.pop()
      for (const part of parts) {
        const match = /^event: (\w+)\ndata: (.*)$/.exec(part)
        if (match) each(match[1], JSON.parse(match[2]))
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
