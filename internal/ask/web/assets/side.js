// What stands beside the questions: what was answered, and what holds.

import { clock, get, make } from './dom.js'
import { post } from './server.js'

const say = (text) => { get('said').textContent = text }

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
