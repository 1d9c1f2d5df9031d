// The answers to one question, in one row that stays in sight. Deny is preset: it
// comes first, and is what Return does in the form.

import { disturb } from './calm.js'
import { alwaysDialog, confirmDialog, sessionDialog } from './dialog.js'
import { make } from './dom.js'

// answerForm calls give(answer, event) with what the person chose. What allows
// waits for the end of the question to have been in sight. The note is a field of
// the form that stands above it, so that the row takes no more room than it needs.
export function answerForm(all, reading, give) {
  const id = `answers-${all.id}`
  const note = make('input', { type: 'text', maxlength: 500, autocomplete: 'off', form: id })
  const words = () => note.value
  const button = (label, name, choose) => make('button', { type: 'button', 'aria-label': name, on: { click: choose } }, label)
  const refused = make('p', { class: 'refused', role: 'alert' })
  const read = (go) => (event) => {
    refused.textContent = reading.seen() ? '' : 'Nothing was answered: read the question to its end first.'
    if (reading.seen()) return go(event)
    reading.end.scrollIntoView({ block: 'center' })
    disturb()
  }
  const once = (reply, label, name) => button(label, name, read((event) => allow(all, reply, name, event, (confirmed, press) => give({ reply, words: words(), confirmed }, press))))
  const lasting = (reply) => () => alwaysDialog(all, reply, (scope, press) => give({ reply, scope, words: words(), confirmed: true }, press))
  const session = () => sessionDialog(all, (scope, press) => give({ reply: 'session', scope, words: words(), confirmed: true }, press))
  const form = make('form', { id, class: 'answers', 'aria-label': 'Answer' },
    refused,
    make('div', { class: 'buttons' },
      make('button', { type: 'submit', class: 'preset' }, 'Deny'),
      ...(all.broken ? [] : [
        once('allow', 'Allow once', 'Allow once'),
        all.lasting && all.session.length > 1 ? button('Session…', 'Session: allow until it ends…', read(session)) : '',
        all.lasting && all.session.length <= 1 ? once('session', 'Session', 'Session: allow until it ends') : '',
        all.offers.some((offer) => offer.allow) ? button('Always…', 'Always allow…', read(lasting('always'))) : '',
        all.offers.some((offer) => offer.deny) ? button('Never…', 'Never: always deny…', lasting('never')) : '',
      ])))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    give({ reply: 'deny', words: words(), confirmed: false }, event)
  })
  const above = make('div', {},
    make('label', { class: 'note' }, make('span', {}, 'Note for the agent, if you like'), note),
    all.noOffer && !all.broken ? make('p', { class: 'quiet' }, `“Always” is not offered: ${all.noOffer}`) : '')
  return { form, above }
}

// allow asks again for a dangerous one.
function allow(all, reply, label, event, give) {
  if (!all.dangerous) return give(false, event)
  confirmDialog(all, label, (press) => give(true, press))
}
