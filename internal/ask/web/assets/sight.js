// What lets a call through waits until the end of what is asked has been in
// sight; what denies never waits. internal/ask/view has the same law for the
// terminal, and the server refuses an allow that does not say so.

import { make } from './dom.js'

// The row of answers lies over the lowest part of the page: what is under it is not in
// sight. No row is higher.
const row = 96 // px

// sight watches end, which is to be put below all that must be read. root is
// the element that scrolls it; without one it is the page. tell hears whether it
// has been in sight.
export function sight(root = null, tell = () => {}) {
  const end = make('div', { class: 'end' })
  let seen = false
  const observer = new IntersectionObserver((entries) => {
    if (document.visibilityState === 'visible' && entries.some((entry) => entry.isIntersecting)) seen = true
    tell(seen)
  }, { root, rootMargin: root ? undefined : `0px 0px -${row}px 0px` })
  observer.observe(end)
  return {
    end,
    seen: () => seen,
    again() {
      seen = false
      observer.unobserve(end)
      observer.observe(end)
    },
    stop: () => observer.disconnect(),
  }
}
