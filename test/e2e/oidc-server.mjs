// An MCP server that wants a sign-in, and a real authorization server (oidc-provider), where a
// person who opens a page is let in at once.
//
//   node oidc-server.mjs JWK     the public key of the client "owned"
//
// It prints the address of the MCP server.
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const listen = (handler) => new Promise((resolve) => {
  const server = createServer(handler).listen(0, '127.0.0.1', () => resolve(server))
})
let serveSignIn, serveTools
const signIn = await listen((req, res) => serveSignIn(req, res))
const tools = await listen((req, res) => serveTools(req, res))
const issuer = `http://127.0.0.1:${signIn.address().port}`
const origin = `http://127.0.0.1:${tools.address().port}`
const resource = origin + '/mcp'

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'owned', token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [JSON.parse(process.argv[2])] },
    grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
  }],
  scopes: ['offline_access', 'use'],
  ttl: { AccessToken: 5, ClientCredentials: 5, Grant: 600, Session: 600, Interaction: 600, RefreshToken: 600, DeviceCode: 600 },
  issueRefreshToken: () => true,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_, interaction) => '/let-in/' + interaction.uid },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    deviceFlow: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, asked) => {
        if (asked !== resource) throw new Error('no such resource')
        return { scope: 'use', accessTokenFormat: 'opaque' }
      },
      useGrantedResource: () => true,
    },
  },
})

const rest = provider.callback()
serveSignIn = async (req, res) => {
  if (!req.url.startsWith('/let-in/')) return rest(req, res)
  const { prompt, params, session } = await provider.interactionDetails(req, res)
  let result = { login: { accountId: 'me' } }
  if (prompt.name === 'consent') {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
    grant.addOIDCScope(params.scope)
    grant.addResourceScope(resource, 'use')
    result = { consent: { grantId: await grant.save() } }
  }
  await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: true })
}

const json = (res, status, doc, header = {}) => res.writeHead(status, { 'Content-Type': 'application/json', ...header }).end(JSON.stringify(doc))
serveTools = async (req, res) => {
  if (req.url.startsWith('/.well-known/oauth-protected-resource')) {
    return json(res, 200, { resource, authorization_servers: ['http://127.0.0.1:1/nobody', issuer], scopes_supported: ['use'] })
  }
  const used = (req.headers.authorization ?? '').replace('Bearer ', '')
  const token = await provider.AccessToken.find(used) ?? await provider.ClientCredentials.find(used)
  if (!token || token.aud !== resource || token.isExpired) {
    return json(res, 401, {}, { 'WWW-Authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` })
  }
  if (req.method !== 'POST') return res.writeHead(405).end()
  let body = ''
  for await (const part of req) body += part
  const { id, method, params } = JSON.parse(body)
  if (id === undefined) return res.writeHead(202).end()
  const initialized = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'signed', version: '1.0.0' } }
  json(res, 200, { jsonrpc: '2.0', id, result: method === 'initialize' ? initialized : { tools: [] } })
}
console.log(resource)
