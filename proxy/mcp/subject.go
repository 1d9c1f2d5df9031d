package mcp

import (
	"github.com/clawai/clawai/policy"
	"github.com/tidwall/gjson"
)

// maxNames bounds the texts or URIs of one call, so that a frame of tiny ones
// does not grow many times over in memory. One more is kept, to be told.
const maxNames = 1 << 16

func push(names *[]string, s string) {
	if len(*names) <= maxNames {
		*names = append(*names, s)
	}
}

// judged fills in a call's Names, Args and Malformed.
func (fs *fields) judged(s shape, c *policy.Call) {
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

// readNamed reads tools/call and prompts/get: params.name and params.arguments.
func readNamed(fs *fields, c *policy.Call) {
	name, args := fs.at[fName], fs.at[fArguments]
	switch {
	case name.Type != gjson.String:
		c.Malformed = "params.name is missing or not a string"
		return
	case hidden(name.Str):
		c.Malformed = "the name holds control or invisible characters"
	case args.IsObject():
		c.Args = fs.span(args)
	case args.Exists() && args.Type != gjson.Null:
		c.Malformed = "params.arguments is not an object"
	}
	push(&c.Names, name.Str)
}

// readURI reads the methods that take one resource: params.uri.
func readURI(fs *fields, c *policy.Call) {
	uri := fs.at[fURI]
	if uri.Type != gjson.String {
		c.Malformed = "params.uri is missing or not a string"
		return
	}
	push(&c.Names, uri.Str)
}

// readSubscriptions reads subscriptions/listen: each URI of
// params.notifications.resourceSubscriptions. None of them leaves no name.
func readSubscriptions(fs *fields, c *policy.Call) {
	asked := fs.at[fNotifications]
	if asked.Exists() && !asked.IsObject() {
		c.Malformed = "params.notifications is not an object"
		return
	}
	var uris gjson.Result
	asked.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "resourceSubscriptions" {
			uris = value
		}
		return true
	})
	if !uris.Exists() || uris.Type == gjson.Null {
		return
	}
	if !uris.IsArray() {
		c.Malformed = "resourceSubscriptions is not an array"
		return
	}
	uris.ForEach(func(_, uri gjson.Result) bool {
		if uri.Type != gjson.String {
			c.Malformed = "resourceSubscriptions holds something that is not a string"
			return false
		}
		push(&c.Names, uri.Str)
		return true
	})
}
