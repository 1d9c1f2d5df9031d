// The answers to one question. Deny is preset: it comes first, and is what
// Return does in the form.

import { disturb } from './calm.js'
import { alwaysDialog, confirmDialog } from './dialog.js'
import { make } from './dom.js'

// answerForm calls give(answer, event) with what the person chose. What allows
// waits for the end of the question to have been in sight.
export function answerForm(all, reading, give) {
  const note = make('input', { type: 'text', maxlength: 500, autocomplete: 'off' })
  const words = () => note.value
  const button = (label, choose, attributes = {}) => make('button', { type: 'button', ...attributes, on: { click: choose } }, label)
  const refused = make('p', { class: 'refused', role: 'alert' })
  const read = (go) => (event) => {
    refused.textContent = reading.seen() ? '' : 'Nothing was answered: read the question to its end first.'
    if (reading.seen()) return go(event)
    reading.end.scrollIntoView({ block: 'center' })
    disturb()
  }
  const once = (reply, label) => button(label, read((event) => allow(all, reply, label, event, (confirmed, press) => give({ reply, words: words(), confirmed }, press))))
  const lasting = (reply) => () => alwaysDialog(all, reply, (scope, press) => give({ reply, scope, words: words(), confirmed: true }, press))
  const form = make('form', { class: 'answers', 'aria-label': 'Answer' },
    make('label', { class: 'note' }, make('span', {}, 'Note for the agent, if you like'), note),
    make('div', { class: 'buttons' },
      make('button', { type: 'submit', class: 'preset' }, 'Deny'),
      ...(all.broken ? [] : [
        once('allow', 'Allow once'),
        all.lasting ? once('session', 'Allow for this session') : '',
        all.offers.some((offer) => offer.allow) ? button('Always allow…', read(lasting('always'))) : '',
        all.offers.some((offer) => offer.deny) ? button('Always deny…', lasting('never')) : '',
      ])),
    all.noOffer && !all.broken ? make('p', { class: 'quiet' }, `“Always” is not offered: ${all.noOffer}`) : '',
    refused)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    give({ reply: 'deny', words: words(), confirmed: false }, event)
  })
  return form
}

// allow asks again for a dangerous one.
function allow(all, reply, label, event, give) {
  if (!all.dangerous) return give(false, event)
  confirmDialog(all, label, (press) => give(true, press))
}
