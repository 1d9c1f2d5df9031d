// A press in the first moments after something came into sight, or moved, was
// meant for what stood there before. It is ignored.

const grace = 300 // ms

let moved = 0
const sighted = new WeakMap()

// disturb says that something moved: the list, a dialog, the window itself.
export const disturb = () => { moved = performance.now() }

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) sighted.set(entry.target, performance.now())
  }
}, { threshold: 0.5 })

// watch remembers when the element comes into sight.
export function watch(element) {
  sighted.set(element, performance.now())
  watcher.observe(element)
}

export const unwatch = (element) => watcher.unobserve(element)

// settled says whether a press counts: everything has stood still, and place,
// when given, has been in sight, for long enough before it.
export function settled(event, place) {
  const since = Math.max(moved, place ? sighted.get(place) ?? Infinity : 0)
  return event.isTrusted && event.timeStamp - since >= grace
}

addEventListener('focus', disturb)
document.addEventListener('visibilitychange', disturb)
