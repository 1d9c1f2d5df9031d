// The one dialog: asks again, or shows the rule that would be written. "Go back"
// has the focus, and Escape is the same.

import { disturb, settled } from './calm.js'
import { careful } from './details.js'
import { get, lines, make } from './dom.js'

let about = ''

// closeFor closes the dialog if it is about this question, and says so.
export function closeFor(id) {
  if (about !== id || !get('dialog').open) return false
  get('dialog').close()
  return true
}

function open(id, title, content, label, yes) {
  const dialog = get('dialog')
  const back = make('button', { type: 'button', class: 'preset', on: { click: () => dialog.close() } }, 'Go back')
  const go = make('button', { type: 'button', on: { click: (event) => press(event, yes) } }, label)
  about = id
  dialog.replaceChildren(make('h2', { id: 'dialogTitle' }, title), ...content, make('div', { class: 'buttons' }, back, go))
  dialog.showModal()
  back.focus()
  disturb()
  return go
}

function press(event, yes) {
  if (!settled(event)) return
  get('dialog').close()
  yes(event)
}

export function confirmDialog(all, label, yes) {
  open(all.id, `${label}?`, [careful(all.dangers, true), make('p', {}, 'Nothing has been answered yet.')], label, yes)
}

export function alwaysDialog(all, reply, yes) {
  const text = reply === 'always' ? 'allow' : 'deny'
  const offers = all.offers.filter((offer) => offer[text])
  const shown = make('div', { 'aria-live': 'polite' })
  let scope
  const choose = (offer) => {
    scope = offer.scope
    disturb()
    shown.replaceChildren(
      make('h3', {}, 'The rule, written above the one that asked'), lines(offer[text], 'the rule'),
      make('p', {}, offer.example ? `Besides this call it would ${text}, for example:` : `No other call is known that it would ${text}.`),
      offer.example ? lines([offer.example], 'an example') : '')
  }
  const radios = offers.map((offer, i) => make('label', { class: 'scope' },
    make('input', { type: 'radio', name: 'scope', checked: i === 0, on: { change: () => choose(offer) } }),
    make('span', {}, offer.title, ' ', make('span', { class: 'quiet' }, offer.scope))))
  choose(offers[0])
  open(all.id, reply === 'always' ? 'Always allow?' : 'Always deny?', [
    reply === 'always' ? careful(all.dangers, all.dangerous) : '',
    make('fieldset', {}, make('legend', {}, 'How far shall the rule reach?'), ...radios), shown,
  ].filter(Boolean), `Write the rule and ${text}`, (event) => yes(scope, event))
}

// bulkDialog lists what will be answered, each once. Allowing leaves the
// dangerous ones out.
export function bulkDialog(reply, rows, yes) {
  const chosen = reply === 'deny' ? rows : rows.filter((row) => !row.dangerous)
  const left = rows.length - chosen.length
  const word = reply === 'deny' ? `Deny ${chosen.length}` : `Allow ${chosen.length} once`
  const go = open('several', `${word}?`, [
    make('ol', { class: 'several', tabindex: 0 }, ...chosen.map((row) => make('li', {}, `${row.title} ${row.short}`))),
    left ? make('p', { class: 'careful' }, `Left out: ${left} dangerous. Look at each of those and answer it alone.`) : '',
  ].filter(Boolean), word, () => yes(chosen))
  go.disabled = chosen.length === 0
}
