// The tabs beside the questions. The server sends each as a tree of names and texts;
// here it becomes elements and text nodes, and nothing in a text is read as markup.

import { get, make } from './dom.js'
import { view } from './server.js'

const tags = new Set(['a', 'button', 'code', 'dd', 'details', 'div', 'dl', 'dt', 'form', 'h2', 'h3', 'input', 'label', 'li', 'ol', 'option', 'p',
  'section', 'select', 'span', 'strong', 'summary', 'table', 'tbody', 'td', 'th', 'thead', 'time', 'tr', 'ul',
  'svg', 'g', 'rect', 'path', 'circle', 'line', 'title'])
const names = new Set(['aria-current', 'aria-hidden', 'aria-label', 'class', 'colspan', 'd', 'datetime', 'for', 'height', 'href', 'id', 'name', 'open',
  'placeholder', 'preserveAspectRatio', 'r', 'role', 'scope', 'selected', 'tabindex', 'type', 'value', 'viewBox', 'width', 'x', 'y', 'cx', 'cy'])

// A link leads to a tab of this page and nowhere else.
const own = /^\/[a-z]*(\?[^#]*)?$/

export function build(tree, space) {
  if (typeof tree === 'string') return tree
  const [tag, attributes, ...children] = tree
  if (!tags.has(tag)) throw new Error('an element that is not known')
  if (tag === 'svg') space = 'http://www.w3.org/2000/svg'
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (names.has(name) && (name !== 'href' || own.test(value))) element.setAttribute(name, value)
  }
  element.append(...children.map((child) => build(child, space)))
  return element
}

let shown = '' // the address of the view that is shown
let tree = '' // what it shows
let asked // for the view that is being fetched

const here = () => location.pathname + location.search

// show shows the tab of the address: the questions, or what the server makes.
export async function show() {
  const path = here()
  const questions = location.pathname === '/'
  for (const link of document.querySelectorAll('nav a')) {
    const current = link.getAttribute('href') === (location.pathname === '/timeline' ? '/sessions' : location.pathname)
    if (current) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  get('open').hidden = !questions
  get('view').hidden = questions
  asked?.abort()
  if (questions) {
    shown = tree = ''
    return
  }
  asked = new AbortController()
  const { signal } = asked
  try {
    const { title, body } = await view(path, signal)
    if (signal.aborted) return
    const text = JSON.stringify(body)
    if (shown === path && tree === text) return
    const moved = shown !== path
    get('view').replaceChildren(build(body))
    shown = path
    tree = text
    get('news').hidden = true
    if (moved) {
      document.title = `${title} · clawai`
      scrollTo(0, 0)
    }
  } catch (error) {
    if (signal.aborted) return
    shown = tree = ''
    get('view').replaceChildren(make('p', { class: 'trouble', role: 'alert' }, error.message))
  }
}

function go(path) {
  if (path !== here()) history.pushState(null, '', path)
  show()
}

// A view that somebody reads, further down or with the keyboard in it, stays as it is.
const read = () => scrollY > 150 || get('view').contains(document.activeElement) || String(getSelection()) !== ''

// refresh shows the view as it is now.
export function refresh() {
  if (get('view').hidden || document.visibilityState !== 'visible') return
  if (shown === here() && read()) get('news').hidden = false
  else show()
}

// tabs wires the links of this page, its filters, and the way back.
export function tabs() {
  addEventListener('popstate', show)
  document.addEventListener('visibilitychange', refresh)
  get('news').addEventListener('click', () => {
    scrollTo(0, 0)
    show()
  })
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(link.getAttribute('href'))
  })
  get('view').addEventListener('submit', (event) => {
    event.preventDefault()
    filter(event.target)
  })
  get('view').addEventListener('change', (event) => {
    if (event.target.matches('form.filters select')) filter(event.target.form)
  })
}

// filter writes what a form says into the address.
function filter(form) {
  const wanted = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''))
  go(location.pathname + (wanted.size ? `?${wanted}` : ''))
}
