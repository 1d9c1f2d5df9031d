// The page: comes in by the link, then shows what the server tells.

import { disturb } from './calm.js'
import { get } from './dom.js'
import { answerers, change, connected, tick } from './list.js'
import { enter, known, listen } from './server.js'
import { showGrants, showHistory } from './side.js'
import { refresh, show as showTab, tabs } from './view.js'

const again = 'Press Enter in the terminal where clawai dashboard or clawai approve --web runs, or start it again, and open the new link.'

const gone = 'clawai has ended or cannot be reached, so nothing can be answered here until it is back.'

function close(why) {
  for (const id of ['open', 'view', 'news', 'tabs']) get(id).hidden = true
  get('closed').hidden = false
  get('why').textContent = why
  get('state').textContent = 'Not connected'
  document.title = 'clawai: not connected'
  get('closed').querySelector('h2').focus()
}

function trouble(text) {
  get('trouble').textContent = text
  get('trouble').hidden = text === ''
}

function state(word, text = '') {
  if (word === 'ended') return close(text)
  connected(word === 'open')
  get('state').textContent = word === 'open' ? 'Connected' : 'Connection lost; trying again…'
  trouble(word === 'lost' && !text ? gone : text)
}

function show() {
  get('tabs').hidden = false
  tabs()
  showTab()
  const wide = matchMedia('(min-width: 64rem)').matches
  for (const id of ['granted', 'past']) get(id).open = wide
  answerers()
  setInterval(tick, 1000)
  listen({
    state,
    pending(event) {
      change(event)
      refresh()
    },
    history: showHistory,
    grants: showGrants,
    changed: refresh,
    trouble: ({ text }) => trouble(text),
  })
}

async function start() {
  const token = location.hash.slice(1)
  // The token leaves the address before anything else can read it there.
  if (token) history.replaceState(null, '', location.pathname + location.search)
  if (token) {
    try {
      const start = await enter(token)
      if (location.pathname === '/') history.replaceState(null, '', start)
    } catch (error) {
      return close(error.status ? error.message : `clawai does not answer. ${again}`)
    }
  }
  if (!known()) return close(`This page is opened by the link that clawai dashboard or clawai approve --web prints. ${again}`)
  show()
}

addEventListener('hashchange', () => { if (location.hash) location.reload() })
disturb()
start()
