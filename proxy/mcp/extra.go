package mcp

import (
	"hash/maphash"

	"github.com/clawai/clawai/policy"
	"github.com/tidwall/gjson"
)

// told are the members of params that a call tells by its Names and Args, by
// shape. What else is in params reaches the other side all the same: it is the
// call's Extra.
var told = [...]fieldSet{
	none:          0,
	named:         1<<fName | 1<<fArguments,
	oneURI:        1 << fURI,
	subscriptions: 0, // see readExtra
	sampling:      1 << fSystemPrompt,
	elicitation:   1<<fMessage | 1<<fURL,
}

// quiet are the keys of _meta that tell the receiver nothing about the call: the
// protocol's own (MCP basic, _meta; traceparent of SEP-414), and the marks that
// clients are known to put on calls for their own logs. They count where their
// value looks as it should, or else like any other.
var quiet = map[string]func(gjson.Result) kind{
	"progressToken": tokenKind,
	"traceparent":   markKind,
	"tracestate":    markKind,

	"io.modelcontextprotocol/protocolVersion":    ownKind,
	"io.modelcontextprotocol/clientInfo":         ownKind,
	"io.modelcontextprotocol/clientCapabilities": ownKind,
	"io.modelcontextprotocol/logLevel":           ownKind,
	"io.modelcontextprotocol/subscriptionId":     ownKind,
	"io.modelcontextprotocol/related-task":       ownKind,

	"claudecode/toolUseId":  markKind, // Claude Code 2.1
	"sessionId":             markKind, // Codex 0.169, this and the next four
	"threadId":              markKind,
	"callId":                markKind,
	"itemId":                markKind,
	"x-codex-turn-metadata": markKind,
	"vscode.conversationId": markKind, // VS Code, this and the next
	"vscode.requestId":      markKind,
}

// kind says what becomes of a member of _meta.
type kind uint8

const (
	part      kind = iota // a part of the call
	protocols             // not told; an answer for one value does not hold for another
	passing               // not told, and of this one message only
)

func tokenKind(v gjson.Result) kind {
	if token(v) {
		return passing
	}
	return part
}

// ownKind: what the protocol gives a meaning is the protocol's, whatever it says.
func ownKind(gjson.Result) kind { return protocols }

// markKind: an identifier, or a flat object of them, says nothing to anybody.
func markKind(v gjson.Result) kind {
	if !v.IsObject() {
		return mark(v)
	}
	k := passing
	v.ForEach(func(key, inner gjson.Result) bool {
		k = min(k, mark(key), mark(inner))
		return k == passing
	})
	return k
}

// longestMark is more than any identifier of the clients above has.
const longestMark = 128

func mark(v gjson.Result) kind {
	switch {
	case v.Type == gjson.Number, v.Type == gjson.True, v.Type == gjson.False:
		return passing
	case v.Type != gjson.String, len(v.Str) > longestMark:
		return part
	}
	for i := range len(v.Str) {
		switch c := v.Str[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':', c == '=', c == ',', c == '@':
		default:
			return part
		}
	}
	return passing
}

// seed makes Quiet of two calls comparable in this process only.
var seed = maphash.MakeSeed()

// metaKind is what becomes of a member of _meta.
func metaKind(key, value gjson.Result) kind {
	if of := quiet[key.Str]; of != nil {
		return of(value)
	}
	return part
}

// meta is what _meta says.
type meta struct {
	read          bool
	progressToken []byte // a JSON token; nil when absent
	subscription  []byte // the same
	modern        bool   // it names the version
	more          bool   // a part of the call is in it
	quiet         uint64 // see policy.Call
}

// readMeta walks _meta, once.
func (fs *fields) readMeta() *meta {
	m, of := &fs.meta, fs.at[fMeta]
	if m.read {
		return m
	}
	if m.read = true; !of.IsObject() {
		m.more = of.Exists()
		return m
	}
	of.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "progressToken":
			if token(value) {
				m.progressToken = fs.span(value)
				return true // tokenKind
			}
		case "io.modelcontextprotocol/subscriptionId":
			if token(value) {
				m.subscription = fs.span(value)
			}
		case "io.modelcontextprotocol/protocolVersion":
			m.modern = value.Type == gjson.String
		}
		switch metaKind(key, value) {
		case part:
			m.more = true
		case protocols:
			m.quiet ^= digest(key.Str, value.Raw)
		case passing:
		}
		return true
	})
	return m
}

func digest(name, value string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(name)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(value)
	return h.Sum64()
}

// readExtra fills in a call's Extra and Quiet.
func (fs *fields) readExtra(s shape, c *policy.Call) {
	if fs.seen == 0 {
		return
	}
	known := told[s] | 1<<fMeta
	switch {
	case s == subscriptions && onlyMember(fs.at[fNotifications], "resourceSubscriptions"):
		known |= 1 << fNotifications
	case s == sampling && allTexts(fs.at[fMessages]):
		known |= 1 << fMessages
	case s == named && !fs.at[fArguments].IsObject() && fs.at[fArguments].Type != gjson.Null:
		known &^= 1 << fArguments
	}
	m := fs.readMeta()
	c.Quiet = m.quiet
	if fs.seen&^known == 0 && !m.more {
		return
	}
	if fs.seen&known == 0 {
		c.Extra = fs.span(fs.params) // all of it
		return
	}
	c.Extra = fs.extra(known, m.more)
}

// extra is what is left of params without what is known, and of its _meta, when
// there is more in it, without what is not told.
func (fs *fields) extra(known fieldSet, more bool) []byte {
	b := []byte{'{'} // it grows: beside the rest of params it is small
	fs.params.ForEach(func(key, value gjson.Result) bool {
		switch {
		case key.Str == "_meta" && !more:
		case key.Str == "_meta" && value.IsObject():
			b = append(appendMember(b, key, ""), '{')
			value.ForEach(func(key, value gjson.Result) bool {
				if metaKind(key, value) == part {
					b = appendMember(b, key, value.Raw)
				}
				return true
			})
			b = append(b, '}')
		case key.Str == "_meta", known&fieldNamed(key.Str) == 0:
			b = appendMember(b, key, value.Raw)
		}
		return true
	})
	return append(b, '}')
}

func appendMember(b []byte, key gjson.Result, raw string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(append(b, key.Raw...), ':'), raw...)
}

// onlyMember says that an object has no other member, or that there is none.
func onlyMember(o gjson.Result, name string) bool {
	only := o.IsObject() || !o.Exists()
	o.ForEach(func(key, _ gjson.Result) bool {
		only = only && key.Str == name
		return only
	})
	return only
}

// allTexts says that sampling messages are nothing but texts of the user.
func allTexts(messages gjson.Result) bool {
	only := messages.IsArray()
	messages.ForEach(func(_, message gjson.Result) bool {
		members := 0
		message.ForEach(func(key, value gjson.Result) bool {
			members++
			only = only && (key.Str == "role" && value.Str == "user" || key.Str == "content" && oneText(value))
			return only
		})
		only = only && members == 2
		return only
	})
	return only
}

func oneText(block gjson.Result) bool {
	only, members := block.IsObject(), 0
	block.ForEach(func(key, value gjson.Result) bool {
		members++
		only = only && (key.Str == "type" && value.Str == "text" || key.Str == "text" && value.Type == gjson.String)
		return only
	})
	return only && members == 2
}
