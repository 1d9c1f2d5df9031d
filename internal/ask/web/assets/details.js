// One question, whole: what would change, what will be executed in the order of the
// wire, and who asks.

import { clock, lines, make, marked } from './dom.js'

// body is everything above the answers; end stands below what must be read before
// the call is allowed. Of what needs care that is every value, whole: none of them
// can be closed.
export function body(all, row, end) {
  if (all.broken) return make('p', { class: 'late', role: 'alert' }, `This call cannot be shown, so it can only be denied: ${all.broken}`)
  return make('div', {},
    careful(all.dangers, all.dangerous),
    ...all.requests.map((request, i) => requestBody(request, i, all)),
    rest(all, row),
    end)
}

// rest is who asks, and why: folded, unless the call needs care.
function rest(all, row) {
  const list = facts([
    ['server', all.server], ['client', all.client], ['folder', all.project], ['rule', all.rule],
    ['why', all.reason],
  ])
  const when = make('p', { class: 'quiet' }, `Asked at ${clock(row.created)}; digest of the message ${all.sum}.`)
  if (all.dangerous) return make('div', {}, list, when)
  return make('details', { class: 'rest' },
    make('summary', {}, ['For', all.server, all.client && `asked by ${all.client}`].filter(Boolean).join(' '), all.rule ? `, by ${all.rule}` : ''), list, when)
}

export function careful(dangers, dangerous) {
  if (!dangerous) return ''
  const list = dangers?.length ? dangers : ['clawai counts this as dangerous.']
  return make('div', { class: 'careful' }, make('strong', {}, 'Careful'), make('ul', {}, ...list.map((text) => make('li', {}, text))))
}

function facts(pairs) {
  const list = make('dl', { class: 'facts' })
  for (const [name, text] of pairs) {
    if (text) list.append(make('dt', {}, name), make('dd', {}, text))
  }
  return list
}

function requestBody(request, i, all) {
  const several = all.requests.length > 1
  const said = request.word === 'asks' || request.word === 'text' // a server's words, without which its form is not understood
  const names = request.names.flatMap((name) => [make('dt', {}, request.word), make('dd', {}, value(name, all.dangerous))])
  return make('section', { class: 'request' },
    several ? make('h4', {}, `Request ${i + 1} of ${all.requests.length}`) : '',
    changes(request.changes),
    request.told.length ? lines(request.told, 'what the command would do') : '',
    said ? make('dl', { class: 'facts' }, ...names) : '',
    request.args.length ? args(request.args, 'argument', all.dangerous) : said ? '' : make('p', { class: 'quiet' }, 'No arguments.'),
    request.extra.length ? args(request.extra, 'value beside the arguments', all.dangerous) : '',
    make('dl', { class: 'facts' },
      ...(request.server === all.server ? [] : [make('dt', {}, 'by server'), make('dd', {}, request.server)]),
      make('dt', {}, 'method'), make('dd', {}, request.method),
      ...(said ? [] : names)))
}

function args(list, what, open) {
  return make('div', {},
    make('h4', {}, list.length === 1 ? `1 ${what}` : `${list.length} ${what.replace(/^\w+/, '$&s')}`),
    make('dl', { class: 'args' }, ...list.flatMap((arg) => [make('dt', {}, arg.path), make('dd', {}, value(arg, open))])))
}

// value is one value: folded on one line, with what is odd about it, and whole.
function value(arg, open) {
  return make('div', { class: 'value' },
    make('code', {}, arg.value),
    arg.clean ? make('p', { class: 'clean' }, '→ ', make('code', {}, arg.clean)) : '',
    ...marked(arg.marks),
    whole(arg, open))
}

function whole(arg, open) {
  if (!arg.whole) return ''
  if (open && arg.folded) return make('div', {}, make('p', { class: 'quiet' }, 'The whole value:'), lines(arg.whole, `${arg.path}, whole`))
  const count = arg.whole.length === 1 ? '1 line' : `${arg.whole.length} lines`
  return make('details', { open: arg.whole.length <= 12 && !arg.folded },
    make('summary', {}, `The whole value: ${count}`), lines(arg.whole, `${arg.path}, whole`))
}

function changes(list) {
  if (!list.length) return ''
  const rows = list.map(({ op, text }) => make('div', { class: `line ${kind(op)}` }, op === '#' ? text : `┆ ${op} ${text}`))
  return make('div', {},
    make('h4', {}, 'Changes'),
    make('div', { class: 'lines', tabindex: 0, role: 'group', 'aria-label': 'changes' }, ...rows))
}

const kind = (op) => ({ '+': 'comes', '-': 'goes', '#': 'word' })[op] ?? 'stays'
