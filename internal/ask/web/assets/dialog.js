// The one dialog: asks again, or shows the rule that would be written. "Go back"
// has the focus, and Escape is the same.

import { disturb, settled } from './calm.js'
import { careful } from './details.js'
import { get, lines, make } from './dom.js'
import { sight } from './sight.js'

let about = ''
let reading // of the content

// closeFor closes the dialog if it is about this question, and says so.
export function closeFor(id) {
  if (about !== id || !get('dialog').open) return false
  get('dialog').close()
  return true
}

// open shows the dialog with its buttons in sight and content, which scrolls. lets
// says that yes lets something through: then it waits for the end of content.
function open(id, title, content, label, lets, yes) {
  const dialog = get('dialog')
  const back = make('button', { type: 'button', class: 'preset', on: { click: () => dialog.close() } }, 'Go back')
  const go = make('button', { type: 'button', on: { click: (event) => press(event) } }, label)
  const more = make('p', { class: 'quiet', hidden: true }, 'There is more: read to the end to allow.')
  const refused = make('p', { class: 'refused', role: 'alert' })
  const all = make('div', { class: 'content', tabindex: 0, role: 'group', 'aria-labelledby': 'dialogTitle' }, ...content)
  reading?.stop()
  reading = sight(all, (seen) => { more.hidden = seen || !lets })
  all.append(reading.end)
  const press = (event) => {
    if (!settled(event)) return
    if (lets && !reading.seen()) {
      refused.textContent = 'Nothing was answered: read on to the end first.'
      all.scrollBy(0, all.clientHeight - 24)
      return disturb()
    }
    dialog.close()
    yes(event)
  }
  about = id
  dialog.replaceChildren(make('h2', { id: 'dialogTitle' }, title), all, more, refused, make('div', { class: 'buttons' }, back, go))
  dialog.showModal()
  all.scrollTop = 0
  back.focus()
  disturb()
  return go
}

export function confirmDialog(all, label, yes) {
  open(all.id, `${label}?`, [careful(all.dangers, true), make('p', {}, 'Nothing has been answered yet.')], label, true, yes)
}

// choices is a list of which one is chosen, the first one before anything is pressed.
function choices(legend, list, text, choose) {
  return make('fieldset', {}, make('legend', {}, legend), ...list.map((one, i) => make('label', { class: 'scope' },
    make('input', { type: 'radio', name: 'scope', checked: i === 0, on: { change: () => choose(one) } }), make('span', {}, ...text(one)))))
}

// sessionDialog asks how far an answer for the session reaches.
export function sessionDialog(all, yes) {
  const shown = make('p', { 'aria-live': 'polite' })
  let scope
  const choose = (reach) => {
    scope = reach.scope
    disturb()
    reading?.again()
    shown.textContent = `That is ${reach.title}.`
  }
  choose(all.session[0])
  open(all.id, 'Allow until the session ends?', [
    careful(all.dangers, all.dangerous),
    choices('How far should the answer reach?', all.session, (reach) => [reach.lets], choose), shown,
    make('p', { class: 'quiet' }, 'It ends with the session, and no rule is written. What a rule denies stays denied, and what needs more care than this call is asked about all the same.'),
  ].filter(Boolean), 'Allow', true, (event) => yes(scope, event))
}

export function alwaysDialog(all, reply, yes) {
  const text = reply === 'always' ? 'allow' : 'deny'
  const offers = all.offers.filter((offer) => offer[text])
  const shown = make('div', { 'aria-live': 'polite' })
  let scope
  const choose = (offer) => {
    scope = offer.scope
    disturb()
    reading?.again()
    shown.replaceChildren(
      make('h3', {}, 'The rule, written above the one that asked'), lines(offer[text], 'the rule'),
      make('p', {}, offer.example ? `Besides this call it would ${text}, for example:` : `No other call is known that it would ${text}.`),
      offer.example ? lines([offer.example], 'an example') : '')
  }
  choose(offers[0])
  open(all.id, reply === 'always' ? 'Always allow?' : 'Always deny?', [
    reply === 'always' ? careful(all.dangers, all.dangerous) : '',
    choices('How far should the rule reach?', offers, (offer) => [offer.title, ' ', make('span', { class: 'quiet' }, offer.scope)], choose), shown,
  ].filter(Boolean), `Write the rule and ${text}`, reply === 'always', (event) => yes(scope, event))
}

// bulkDialog lists what will be answered, each once. Allowing leaves out those
// that are dangerous, and those that the list does not show to their end.
export function bulkDialog(reply, rows, yes) {
  const safe = reply === 'deny' ? rows : rows.filter((row) => !row.dangerous)
  const chosen = reply === 'deny' ? rows : safe.filter((row) => row.brief)
  const left = rows.length - safe.length
  const long = safe.length - chosen.length
  const word = reply === 'deny' ? `Deny ${chosen.length}` : `Allow ${chosen.length} once`
  const go = open('several', `${word}?`, [
    make('ol', { class: 'several' }, ...chosen.map((row) => make('li', {}, `${row.title} ${row.short}`))),
    left ? make('p', { class: 'careful' }, `Left out: ${left} dangerous. Look at each of those and answer it alone.`) : '',
    long ? make('p', { class: 'careful' }, `Left out: ${long} that this list has no room for. Open each of those, read it and answer it alone.`) : '',
  ].filter(Boolean), word, reply === 'allow', () => yes(chosen))
  go.disabled = chosen.length === 0
}
