package mcp

import (
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// maxNames is the maximum number of texts or URIs in one call. Without it, a frame with many tiny
// texts would take far more memory than its size. One text more than this is stored, to show that
// there are too many.
const maxNames = 1 << 16

func appendName(names *[]string, s string) {
	if len(*names) <= maxNames {
		*names = append(*names, s)
	}
}

// fillCall sets the Names, Args and Malformed of a call.
func (fs *fields) fillCall(s shape, c *policy.Call) {
	switch s {
	case none:
	case named:
		readNamed(fs, c)
	case oneURI:
		readURI(fs, c)
	case subscriptions:
		readSubscriptions(fs, c)
	case sampling:
		readSampling(fs, c)
	case elicitation:
		readElicitation(fs, c)
	}
	tooMany(c)
}

func tooMany(c *policy.Call) {
	if len(c.Names) > maxNames {
		c.Malformed = "more texts than the gate reads"
	}
}

// isMissing reports whether a value is missing or null.
func isMissing(v jsonscan.Value) bool { return v.Kind() <= jsonscan.Null }

// readNamed reads params.name and params.arguments of a tools/call or prompts/get.
func readNamed(fs *fields, c *policy.Call) {
	name, args := fs.at[fName], fs.at[fArguments]
	text := name.Text()
	switch {
	case name.Kind() != jsonscan.String:
		c.Malformed = "params.name is missing or not a string"
		return
	case hasHidden(text):
		c.Malformed = "the name holds control or invisible characters"
	case args.Kind() == jsonscan.Object:
		c.Args = args.Bytes()
	case !isMissing(args):
		c.Malformed = "params.arguments is not an object"
	}
	appendName(&c.Names, text)
}

// readURI reads params.uri of a method about one resource.
func readURI(fs *fields, c *policy.Call) {
	uri := fs.at[fURI]
	if uri.Kind() != jsonscan.String {
		c.Malformed = "params.uri is missing or not a string"
		return
	}
	appendName(&c.Names, uri.Text())
}

// readSubscriptions reads the URIs in params.notifications.resourceSubscriptions of a
// subscriptions/listen. Each URI becomes a name of the call.
func readSubscriptions(fs *fields, c *policy.Call) {
	asked := fs.at[fNotifications]
	if asked != "" && asked.Kind() != jsonscan.Object {
		c.Malformed = "params.notifications is not an object"
		return
	}
	uris := asked.Member("resourceSubscriptions")
	if isMissing(uris) {
		return
	}
	if uris.Kind() != jsonscan.Array {
		c.Malformed = "resourceSubscriptions is not an array"
		return
	}
	for uri := range uris.Elements() {
		if uri.Kind() != jsonscan.String {
			c.Malformed = "resourceSubscriptions holds something that is not a string"
			return
		}
		appendName(&c.Names, uri.Text())
	}
}
