package policy

import (
	"slices"
	"strings"
)

// AddClient puts a condition into the language that only tests have: client, on what
// stands behind the @ of a server's name. glob says that the table knows it for a
// glob, recorded that records keep it. It stays until it is taken back.
func AddClient(glob, recorded bool) (takeBack func()) {
	before := slices.Clip(keys)
	row := key{name: "client", behind: "server", early: true, field: globOf(clientOf), call: &CallKey{
		Glob: glob, Is: "the client is", Unknown: "the client is not known", Hint: "no fixture says it", Recorded: recorded, got: clientOf}}
	if !glob {
		row.field = func(p *parser, k ruleKey, e expression) {
			globOf(clientOf)(p, k, e)
			for i := range p.rule().calls {
				p.rule().calls[i].Glob = ""
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

func clientOf(c *Call) string {
	_, client, _ := strings.Cut(c.Server, "@")
	return client
}
