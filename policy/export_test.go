package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/internal/toml"
)

// AddClient puts a condition into the language that only tests have: client, on what
// stands behind the @ of a server's name. glob says that the table knows it for a
// glob, and what would meet it, recorded that records keep it. It stays until it is taken back.
func AddClient(glob, recorded bool) (takeBack func()) {
	before := slices.Clip(keys)
	row := key{name: "client", behind: "server", early: true, call: &CallKey{
		Glob: glob, Is: "the client is", Unknown: "the client is not known", Hint: "no fixture says it", Recorded: recorded, got: clientOf}}
	row.field = func(p *parser, k ruleKey, e toml.Expression) {
		readGlobKey(p, k, e)
		r := p.currentRule()
		for i := range r.calls {
			s := &r.calls[i]
			if s.Key != "client" {
				continue
			}
			if glob {
				s.test = onClient{s.test.(*callGlob)}
			} else {
				s.Globs = nil
			}
		}
	}
	if !recorded {
		row.call.Fill = func(c, like *Call) { c.Server += "@" + clientOf(like) }
	}
	addKeys(callRow(row))
	return func() {
		keys = before
		addKeys()
	}
}

// onClient knows what would meet it.
type onClient struct{ *callGlob }

func (o onClient) meet(c *Call) {
	server, _, _ := strings.Cut(c.Server, "@")
	c.Server = server + "@" + strings.ReplaceAll(o.globs[0].String(), "*", "")
}

func clientOf(c *Call) string {
	_, client, _ := strings.Cut(c.Server, "@")
	return client
}

// BeginsAsJSON is beginsAsJSON.
var BeginsAsJSON = beginsAsJSON
