#!/usr/bin/env node
// Starts the native program of this machine, which an optional dependency brought.
'use strict'

const { spawn } = require('node:child_process')

const name = `@clawai/${process.platform}-${process.arch}`
const file = process.platform === 'win32' ? 'clawai.exe' : 'clawai'

let program
try {
  program = require.resolve(`${name}/bin/${file}`)
} catch {
  console.error(
    `clawai: ${name} is not installed. Either there is no clawai for this machine, or npm was ` +
      'told to leave out optional dependencies: install again without --omit=optional.',
  )
  process.exit(125)
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
// A terminal sends these to the whole group; what is sent to this process alone has to
// reach the child, and this process ends when the child has.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
  process.on(signal, () => child.kill(signal))
}
child.on('error', (err) => {
  console.error(`clawai: ${program} did not start: ${err.message}`)
  process.exit(126)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
