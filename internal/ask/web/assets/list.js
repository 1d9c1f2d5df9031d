// The questions that wait, oldest first. New ones come below, so that what is
// being read stays where it is.

import { answerForm } from './answer.js'
import { disturb, settled, unwatch, watch } from './calm.js'
import { bulkDialog, closeFor } from './dialog.js'
import { body } from './details.js'
import { get, make } from './dom.js'
import { details, post } from './server.js'
import { sight } from './sight.js'

const items = new Map() // by id, in the order of the page
const answered = new Set() // by this page; their ending is told by the answer
let lag = 0 // of this browser's clock behind the proxy's, in ms

const say = (text) => { get('said').textContent = text }

export const connected = (yes) => document.body.classList.toggle('lost', !yes)

const offline = () => document.body.classList.contains('lost')

// change takes one change of the list.
export function change({ fresh, now, added, gone }) {
  lag = now - Date.now()
  const focus = document.activeElement
  const near = focus.closest?.('.item')
  const next = near && (near.nextElementSibling ?? near.previousElementSibling)
  if (fresh) {
    const waiting = new Set(added.map((row) => row.id))
    for (const id of [...items.keys()].filter((id) => !waiting.has(id))) end(id, 'Ended while this page was not connected; clawai log tells how.')
  }
  for (const { id, text } of gone) end(id, text)
  const news = added.filter((row) => !items.has(row.id))
  for (const row of news) add(row)
  disturb()
  count()
  tick()
  if (near && !near.isConnected) (next?.isConnected ? next.querySelector('button') : get('questions')).focus()
  if (news.length) announce(news)
  if (items.size === 1 && news.length === 1) toggle(items.get(news[0].id))
}

function announce(news) {
  const what = news.length === 1 ? `New question: ${news[0].title}.` : `${news.length} new questions.`
  say(`${what} ${items.size === 1 ? 'One waits.' : `${items.size} wait.`}`)
}

function add(row) {
  const item = { row, open: false }
  const at = `body-${row.id}`
  item.check = make('input', { type: 'checkbox', 'aria-label': `Select ${row.title}`, on: { change: count } })
  item.opener = make('button', { class: 'opener', type: 'button', 'aria-expanded': 'false', 'aria-controls': at, on: { click: () => toggle(item) } },
    make('span', { class: 'title' }, row.title),
    row.dangerous && make('span', { class: 'badge' }, 'dangerous') || '')
  item.left = make('span', { class: 'left' })
  item.body = make('div', { id: at, class: 'body', hidden: true })
  item.element = make('li', { class: row.dangerous ? 'item danger' : 'item', on: { keydown: (event) => keys(event, item) } },
    make('div', { class: 'head' }, item.check, make('h3', {}, item.opener), item.left),
    make('p', { class: 'short' }, row.short), item.body)
  items.set(row.id, item)
  filterOne(item)
  get('list').append(item.element)
}

const late = (text) => make('p', { class: 'late', role: 'alert' }, text)

// leave stops watching what is no longer shown.
function leave(item) {
  if (item.form) unwatch(item.form)
  item.sight?.stop()
  item.form = item.sight = undefined
}

function drop(id) {
  const item = items.get(id)
  if (!item) return
  items.delete(id)
  item.stop?.abort()
  leave(item)
  item.element.remove()
  closeFor(id)
}

const farewell = 6000 // ms that the ending of a question that was being read stays

// end takes a question away that was settled. One that is being read stays for a
// moment as its ending, and then leaves by itself.
function end(id, text) {
  const item = items.get(id)
  if (!item) return
  const ours = answered.delete(id)
  if (ours || !item.open) {
    drop(id)
    if (!ours) say(`${item.row.title}: ${text}`)
    return
  }
  const closed = closeFor(id)
  const inside = closed || item.element.contains(document.activeElement)
  items.delete(id)
  item.stop?.abort()
  leave(item)
  item.body.replaceChildren(late(text))
  item.element.classList.add('ended')
  item.element.querySelector('.head').replaceChildren(make('h3', {}, make('span', { class: 'title' }, item.row.title)))
  say('')
  if (inside) get('questions').focus()
  setTimeout(() => {
    item.element.remove()
    disturb()
    count()
  }, farewell)
}

async function toggle(item) {
  item.open = !item.open
  item.opener.setAttribute('aria-expanded', String(item.open))
  item.body.hidden = !item.open
  item.element.classList.toggle('expanded', item.open)
  disturb()
  if (!item.open) {
    item.stop.abort()
    leave(item)
    item.body.replaceChildren()
    return
  }
  item.stop = new AbortController()
  await load(item, item.stop.signal)
}

async function load(item, signal) {
  item.body.replaceChildren(make('p', { class: 'quiet' }, 'Loading…'))
  try {
    const all = await details(item.row.id, signal)
    if (signal.aborted) return
    if (all.ended) return item.body.replaceChildren(late(all.ended))
    item.sight = sight()
    const { form, above } = answerForm(all, item.sight, (answer, event) => send(item, all, answer, event))
    item.form = form
    item.body.replaceChildren(body(all, item.row, item.sight.end), above, form)
    watch(item.form)
    disturb()
  } catch (error) {
    if (!signal.aborted) item.body.replaceChildren(late(error.message))
  }
}

// send gives one answer, if the press was meant for what is in sight.
async function send(item, all, answer, event) {
  if (offline()) return say('Not connected: nothing was answered.')
  if (!settled(event, answer.confirmed ? undefined : item.form)) return say('That was too soon after something moved. Look, and press again.')
  const { id, digest } = all
  answered.add(id)
  try {
    const { text } = await post('/answer', { id, digest, read: item.sight?.seen() ?? false, ...answer })
    say(`${item.row.title}: ${text}`)
  } catch (error) {
    answered.delete(id)
    say(error.message)
    if (item.form?.isConnected) item.form.querySelector('.refused').textContent = error.message
  }
}

function keys(event, item) {
  if (event.key === 'Escape' && item.open && items.has(item.row.id)) {
    toggle(item)
    item.opener.focus()
  }
  if (event.target !== item.opener) return
  const to = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key]
  if (!to) return
  event.preventDefault()
  let other = item.element[to]
  while (other?.hidden) other = other[to]
  other?.querySelector('button')?.focus()
}

const shown = () => [...items.values()].filter((item) => !item.element.hidden)

const selected = () => shown().filter((item) => item.check.checked)

function filterOne(item) {
  const { row } = item
  const wanted = get('filter').value.toLowerCase()
  item.element.hidden = ![row.title, row.short, row.client, row.project].some((text) => text.toLowerCase().includes(wanted))
}

function count() {
  const chosen = selected().length
  const hidden = items.size - shown().length
  get('count').textContent = items.size
  get('waiting').textContent = items.size
  get('waiting').hidden = items.size === 0
  get('empty').hidden = get('list').childElementCount > 0
  get('bulk').hidden = items.size < 2
  get('all').checked = chosen > 0 && chosen === shown().length
  get('denyAll').disabled = get('allowAll').disabled = chosen === 0
  get('shown').textContent = hidden ? `${hidden} more ${hidden === 1 ? 'is' : 'are'} hidden by the filter.` : ''
  document.title = `${items.size ? `(${items.size}) ` : ''}${document.title.replace(/^\(\d+\) /, '')}`
}

// tick writes how long each question still waits.
export function tick() {
  for (const { row, left } of [...items.values()]) {
    if (!row.deadline) continue
    const seconds = Math.max(0, Math.ceil((row.deadline - Date.now() - lag) / 1000))
    // Nobody is there to say so, but the proxy has let the time run out by itself.
    if (seconds === 0 && offline()) end(row.id, 'Expired while clawai approve could not be reached; the call is denied.')
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`
  }
}

// answerers wires what answers several, and the filter.
export function answerers() {
  get('filter').addEventListener('input', () => {
    items.forEach(filterOne)
    disturb()
    count()
  })
  get('all').addEventListener('change', (event) => {
    for (const item of shown()) item.check.checked = event.target.checked
    count()
  })
  get('denyAll').addEventListener('click', (event) => several('deny', event))
  get('allowAll').addEventListener('click', (event) => several('allow', event))
}

// several answers each of the selected ones for itself, once.
function several(reply, event) {
  if (!settled(event)) return
  const rows = selected().map((item) => item.row)
  bulkDialog(reply, rows, async (chosen) => {
    if (offline()) return say('Not connected: nothing was answered.')
    const results = await Promise.allSettled(chosen.map(({ id, digest }) => {
      answered.add(id)
      return post('/answer', { id, digest, reply, read: true, bulk: true }).catch((error) => {
        answered.delete(id)
        throw error
      })
    }))
    const done = results.filter((result) => result.status === 'fulfilled').length
    const refused = results.find((result) => result.status === 'rejected')
    say(`${reply === 'deny' ? 'Denied' : 'Allowed once'}: ${done} of ${chosen.length}.${refused ? ` ${refused.reason.message}` : ''}`)
  })
}
