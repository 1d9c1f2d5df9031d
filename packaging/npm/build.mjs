// Makes the npm packages from a release in dist/: one for each platform, with the native
// program, and `clawai`, which depends on all of them optionally; npm then installs the
// one whose os and cpu fit. Run from the repository: node packaging/npm/build.mjs
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..')
const out = join(root, 'dist', 'npm')

// Go's names of systems and processors as Node has them.
const system = { linux: 'linux', darwin: 'darwin', windows: 'win32' }
const processor = { amd64: 'x64', arm64: 'arm64' }

const json = (file) => JSON.parse(readFileSync(file, 'utf8'))
const { version } = json(join(root, 'dist', 'metadata.json'))
const programs = json(join(root, 'dist', 'artifacts.json')).filter((a) => a.type === 'Binary' && !a.name.startsWith('clawai-gateway')) // no laptop needs it
// clawai-hook and, on Linux, clawai-sandbox lie beside clawai.
const isBeside = (p) => p.name.startsWith('clawai-')
const besideOf = (goos, goarch) => programs.filter((p) => isBeside(p) && p.goos === goos && p.goarch === goarch)
const common = {
  version,
  license: 'MIT',
  homepage: 'https://github.com/clawai/clawai',
  repository: { type: 'git', url: 'git+https://github.com/clawai/clawai.git' },
}

function make(folder, manifest, files) {
  const dir = join(out, folder)
  mkdirSync(join(dir, 'bin'), { recursive: true })
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ ...manifest, ...common }, null, 2) + '\n')
  for (const [to, from] of Object.entries({ LICENSE: join(root, 'LICENSE'), ...files })) {
    copyFileSync(from, join(dir, to))
    if (to.startsWith('bin/')) chmodSync(join(dir, to), 0o755)
  }
}

rmSync(out, { recursive: true, force: true })
const optionalDependencies = {}
for (const { goos, goarch, path, name } of programs.filter((p) => !isBeside(p))) {
  const os = system[goos]
  const cpu = processor[goarch]
  if (!os || !cpu) throw new Error(`npm has no name for ${goos}/${goarch}: add it to build.mjs`)
  const pkg = `@clawai/${os}-${cpu}`
  optionalDependencies[pkg] = version
  make(`${os}-${cpu}`, { name: pkg, description: `clawai for ${os} ${cpu}`, os: [os], cpu: [cpu], preferUnplugged: true }, {
    [`bin/${name}`]: join(root, path),
    ...Object.fromEntries(besideOf(goos, goarch).map((p) => [`bin/${p.name}`, join(root, p.path)])),
  })
}
make(
  'clawai',
  {
    name: 'clawai',
    description: "Lets an AI agent use MCP servers only as its owner's rules allow",
    keywords: ['mcp', 'agent', 'policy', 'security', 'proxy'],
    bin: { clawai: 'bin/clawai.js' },
    engines: { node: '>=18' },
    optionalDependencies,
  },
  { 'bin/clawai.js': join(here, 'clawai.js'), 'README.md': join(here, 'README.md') },
)
console.log(`${Object.keys(optionalDependencies).length + 1} packages of ${version} in dist/npm`)
