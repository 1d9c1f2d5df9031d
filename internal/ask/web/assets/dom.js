// The only ways in which this page makes elements. What came from elsewhere goes
// into text nodes; nothing here reads markup.

// get is the element of the page with this id.
export const get = (id) => document.getElementById(id)

// make builds an element: attributes by name, listeners under "on", then its
// children, strings or elements.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  const { on = {}, ...rest } = attributes
  for (const [name, value] of Object.entries(rest)) {
    if (value === true) element.setAttribute(name, '')
    else if (value !== false && value != null) element.setAttribute(name, value)
  }
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener)
  element.append(...children.filter((child) => child != null && child !== ''))
  return element
}

export const clock = (ms) => new Date(ms).toLocaleTimeString([], { hour12: false })

// gutter begins each line of a value. No value can show this character, so none
// passes for a line of ours.
const gutter = '┆ '

export const lines = (list, label) =>
  make('div', { class: 'lines', tabindex: 0, role: 'group', 'aria-label': label },
    ...list.map((text) => make('div', { class: 'line' }, gutter + text)))

export const marked = (list) => (list ?? []).map((mark) => make('span', { class: 'mark' }, mark))
