// A team's identity provider (oidc-provider), with a page on which a person says who they are.
//
//   node team-oidc.mjs REDIRECT
//
// It prints its address, whose port is PORT, or any. Groups and addresses are only in its answer about a person, as it does by
// itself (userinfo).
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const people = {
  ana: { groups: ['security', 'engineering'], email: 'ana@corp.example', email_verified: true },
  bob: { groups: ['engineering'], email: 'bob@corp.example', email_verified: true },
  eva: { groups: ['audit'], email: 'eva@corp.example', email_verified: true },
  pia: { groups: [], email: 'pia@corp.example', email_verified: true },
  max: { groups: ['security?', '<img src=x>'], email: 'ana@corp.example', email_verified: false, name: 'Max' },
}

let serve
const server = await new Promise((resolve) => {
  const one = createServer((req, res) => serve(req, res)).listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => resolve(one))
})
const issuer = `http://127.0.0.1:${server.address().port}`
const provider = new Provider(issuer, {
  clients: [{ client_id: 'centre', client_secret: 'a secret of the client', redirect_uris: [process.argv[2]], grant_types: ['authorization_code'], response_types: ['code'] }],
  scopes: ['openid', 'email', 'profile', 'groups'],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
  ttl: { AccessToken: 60, IdToken: 60, Grant: 600, Session: 600, Interaction: 600 },
  findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
  interactions: { url: (_, interaction) => '/who/' + interaction.uid },
  features: { devInteractions: { enabled: false } },
})

const rest = provider.callback()
serve = async (req, res) => {
  if (!req.url.startsWith('/who/')) return rest(req, res)
  const { prompt, params, session } = await provider.interactionDetails(req, res)
  let result
  if (prompt.name === 'consent') {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
    grant.addOIDCScope(params.scope)
    result = { consent: { grantId: await grant.save() } }
  } else if (req.method === 'POST') {
    let body = ''
    for await (const part of req) body += part
    result = { login: { accountId: new URLSearchParams(body).get('account') } }
  } else {
    return res.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Who</title><main><form method="post"><label>Account <input name="account" autofocus></label><button>Sign in</button></form></main>')
  }
  await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: true })
}
console.log(issuer)
