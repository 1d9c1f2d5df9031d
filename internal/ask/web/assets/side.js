// What stands beside the questions: the record, what was answered, what holds.

import { clock, get, make } from './dom.js'
import { post } from './server.js'

const most = 200 // lines of the record that the page keeps

const say = (text) => { get('said').textContent = text }

export const clearRecord = () => get('record').replaceChildren()

// addRecord puts a new line on top.
export function addRecord(line) {
  const list = get('record')
  list.prepend(make('li', {},
    make('p', { class: 'when' }, clock(line.time), ' ', make('span', { class: `word ${line.tone}` }, line.word), line.server ? ` ${line.server}` : ''),
    line.text ? make('p', { class: 'what' }, line.text) : '',
    line.why ? make('p', { class: 'quiet' }, line.why) : ''))
  while (list.childElementCount > most) list.lastElementChild.remove()
}

export function showHistory(list) {
  get('history').replaceChildren(...list.map((past) => make('li', {},
    make('p', { class: 'when' }, clock(past.time), ' ', make('span', { class: `word ${tones[past.status] ?? ''}` }, past.status)),
    make('p', { class: 'what' }, past.title),
    make('p', { class: 'quiet' }, past.text),
    past.note ? make('p', { class: 'quiet' }, `Note: ${past.note}`) : '')))
}

const tones = { approved: 'good', denied: 'bad', expired: 'odd' }

export function showGrants(list) {
  get('grantCount').textContent = list.length
  get('grants').replaceChildren(...list.map((grant) => make('li', {},
    make('p', { class: 'what' }, grant.title),
    make('p', { class: 'quiet' }, [grant.client, grant.project, `since ${clock(grant.since)}`, uses(grant.uses)].filter(Boolean).join(' · ')),
    make('button', { type: 'button', 'aria-label': `Revoke ${grant.title}`, on: { click: () => revoke(grant.id) } }, 'Revoke'))))
}

const uses = (n) => n === 1 ? 'used once' : `used ${n} times`

async function revoke(id) {
  try {
    say((await post('/revoke', { id })).text)
  } catch (error) {
    say(error.message)
  }
}
