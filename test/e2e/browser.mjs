// A real Chromium that does what it is told: one JSON command a line on standard
// input, one JSON answer a line on standard output. It also keeps what the page
// said, loaded and opened, for a page that shows hostile text must do none of it.
//
//   node browser.mjs WIDTH HEIGHT [dark] [any-certificate]
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const [width, height, scheme] = process.argv.slice(2)
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
})
const context = await browser.newContext({
  viewport: { width: Number(width), height: Number(height) }, colorScheme: scheme === 'dark' ? 'dark' : 'light',
  ignoreHTTPSErrors: process.argv.includes('any-certificate'), reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC',
})
const seen = { console: [], errors: [], urls: [], pages: 0, dialogs: 0, downloads: 0 }
let page
// How long what must happen may take. A busy machine is late.
const patience = 180_000
context.setDefaultTimeout(patience)

function watch(opened) {
  seen.pages++
  opened.on('console', (message) => seen.console.push(`${message.type()}: ${message.text()} ${message.location().url}`))
  opened.on('pageerror', (error) => seen.errors.push(String(error)))
  opened.on('dialog', (dialog) => { seen.dialogs++; dialog.dismiss() })
  opened.on('download', () => seen.downloads++)
}
context.on('page', watch)
context.on('request', (request) => seen.urls.push(`${request.method()} ${request.url()}`))

const focus = () => page.evaluate(() => {
  const e = document.activeElement
  const style = getComputedStyle(e)
  const box = e.getBoundingClientRect()
  const name = e.getAttribute('aria-label') ?? e.labels?.[0]?.innerText ?? e.innerText ?? ''
  return {
    tag: e.tagName.toLowerCase(), id: e.id, name: name.trim(), expanded: e.getAttribute('aria-expanded'),
    outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    inView: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  }
})

// What has the focus, when it has been drawn and scrolled to.
async function drawn() {
  for (let n = 0; ; n++) {
    const now = await focus()
    if (now.tag === 'body' || (now.outline && now.inView) || n === 200) return now
    await page.waitForTimeout(50)
  }
}

// Elements whose box leaves the viewport sideways, whether the page scrolls, and
// what a person who hears the page would not be told the name of.
const overflow = () => page.evaluate(() => {
  const wide = [...document.querySelectorAll('body *')]
    .filter((e) => e.getClientRects().length && (e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1))
    .map((e) => `${e.tagName.toLowerCase()}.${e.className}`)
  const name = (e) => e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || (e.getAttribute('aria-labelledby') ?? '')
  const nameless = [...document.querySelectorAll('button, input, summary, main, aside, dialog[open], form, [role=group]')]
    .filter((e) => e.getClientRects().length && !name(e).trim())
    .map((e) => e.outerHTML.slice(0, 120))
  const root = document.documentElement
  return { wide, nameless, scrolls: root.scrollWidth > root.clientWidth }
})

// Texts whose contrast with what is painted behind them is below 4.5.
const faint = () => page.evaluate(() => {
  const parse = (color) => color.match(/[\d.]+/g).map(Number)
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor)
      if (color.length === 3 || color[3] === 1) return color
    }
    return [255, 255, 255]
  }
  const list = []
  for (const e of document.querySelectorAll('body *')) {
    if (!e.getClientRects().length || e.disabled || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x)
    const contrast = (a + 0.05) / (b + 0.05)
    if (contrast < 4.5) list.push(`${e.tagName.toLowerCase()}.${e.className} ${contrast.toFixed(2)}`)
  }
  return [...new Set(list)]
})

const commands = {
  faint: async () => faint(),
  open: async ({ url }) => { page = await context.newPage(); await page.goto(url) },
  goto: async ({ url }) => { await page.goto(url) },
  reload: async () => { await page.reload() },
  press: async ({ key }) => { await page.keyboard.press(key); return drawn() },
  // A key that leads to another page, which is loaded then.
  leave: async ({ key }) => { await Promise.all([page.waitForNavigation(), page.keyboard.press(key)]) },
  // A press of the mouse on what a person would call so.
  click: async ({ role, name }) => { await page.getByRole(role, { name }).click() },
  type: async ({ text }) => { await page.keyboard.type(text) },
  choose: async ({ label, path }) => { await page.getByLabel(label).setInputFiles(path) },
  focus: async () => focus(),
  text: async ({ selector }) => page.locator(selector).innerText(),
  count: async ({ selector }) => page.locator(selector).count(),
  html: async ({ selector }) => page.locator(selector).innerHTML(),
  wait: async ({ selector, text, gone }) => {
    const found = await page.waitForFunction(([selector, text, gone]) => {
      const found = [...document.querySelectorAll(selector)].find((e) => e.getClientRects().length && e.innerText.includes(text))
      return gone ? !found : found && { text: found.innerText }
    }, [selector, text, gone], { timeout: patience })
    return (await found.jsonValue()).text
  },
  // How long a press right now would be too soon: what the page counts from when it is
  // drawn, it counts from when this browser has come to draw it.
  calm: async () => {
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn)))))
    await page.waitForTimeout(350)
  },
  overflow: async () => overflow(),
  // Whether an element is on the screen, and in sight in all that scrolls it.
  sees: async ({ selector }) => page.evaluate((selector) => {
    const e = document.querySelector(selector)
    const { top, bottom } = e.getBoundingClientRect()
    const within = (box) => top >= box.top - 1 && bottom <= box.bottom + 1
    for (let up = e.parentElement; up; up = up.parentElement) {
      if (up !== document.documentElement && up.scrollHeight > up.clientHeight + 1 && getComputedStyle(up).overflowY === 'auto' && !within(up.getBoundingClientRect())) return false
    }
    return within({ top: 0, bottom: innerHeight })
  }, selector),
  // Where elements are on the screen, and whether a press in their middle meets them.
  boxes: async ({ selector }) => page.evaluate((selector) => [...document.querySelectorAll(selector)].map((e) => {
    const { left, top, right, bottom } = e.getBoundingClientRect()
    const met = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
    return { name: e.innerText, left, top, right, bottom, cut: e.scrollWidth > e.clientWidth, met: met === e || e.contains(met) }
  }), selector),
  scroll: async ({ to }) => { await page.evaluate((to) => scrollTo(0, to * document.documentElement.scrollHeight), to) },
  // The elements within that show only a part of what they hold.
  boxed: async ({ selector }) => page.evaluate((selector) => [...document.querySelectorAll(`${selector} *`)]
    .filter((e) => e.getClientRects().length && getComputedStyle(e).overflowY !== 'visible' && e.scrollHeight > e.clientHeight + 1)
    .map((e) => `${e.tagName.toLowerCase()}.${e.className}`), selector),
  shot: async ({ path }) => { await page.screenshot({ path }) },
  title: async () => page.title(),
  url: async () => page.url(),
  scheme: async ({ scheme }) => { await page.emulateMedia({ colorScheme: scheme }) },
  size: async ({ width, height }) => { await page.setViewportSize({ width, height }) },
  fetched: async ({ url, init }) => page.evaluate(async ([url, init]) => {
    try {
      const response = await fetch(url, init)
      return response.type === 'opaque' ? 'opaque' : String(response.status)
    } catch (error) {
      return 'blocked'
    }
  }, [url, init]),
  run: async ({ script }) => page.evaluate(script),
  seen: async () => ({ ...seen, open: context.pages().length }),
  close: async () => { await page.close() },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...args } = JSON.parse(line)
  let answer
  try {
    answer = { value: (await commands[name](args)) ?? null }
  } catch (error) {
    answer = { error: String(error) }
  }
  console.log(JSON.stringify(answer))
}
await browser.close()
