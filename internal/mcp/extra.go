package mcp

import (
	"hash/maphash"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
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
var quiet = map[string]func(jsonscan.Value) kind{
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

func tokenKind(v jsonscan.Value) kind {
	if isToken(v) {
		return passing
	}
	return part
}

// ownKind: what the protocol gives a meaning is the protocol's, whatever it says.
func ownKind(jsonscan.Value) kind { return protocols }

// markKind: an identifier, or a flat object of them, says nothing to anybody.
func markKind(v jsonscan.Value) kind {
	if v.Kind() != jsonscan.Object {
		return kindOfMark(v)
	}
	for key, inner := range v.Members() {
		if k := min(kindOfMark(key), kindOfMark(inner)); k != passing {
			return k
		}
	}
	return passing
}

// longestMark is more than any identifier of the clients above has.
const longestMark = 128

func kindOfMark(v jsonscan.Value) kind {
	switch v.Kind() {
	case jsonscan.Number, jsonscan.Boolean:
		return passing
	case jsonscan.String:
	default:
		return part
	}
	text := v.Text()
	if len(text) > longestMark {
		return part
	}
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':', c == '=', c == ',', c == '@':
		default:
			return part
		}
	}
	return passing
}

// seed makes Quiet of two calls comparable in this process only.
var seed = maphash.MakeSeed()

// metaKind gives what becomes of a member of _meta.
func metaKind(name string, value jsonscan.Value) kind {
	if of := quiet[name]; of != nil {
		return of(value)
	}
	return part
}

// meta is what _meta says.
type meta struct {
	read          bool
	progressToken []byte // a JSON token; nil when absent
	modern        bool   // it names the version
	more          bool   // a part of the call is in it
	quiet         uint64 // see policy.Call
	session       string // see policy.Call
}

// readMeta walks _meta, once.
func (fs *fields) readMeta() *meta {
	m, of := &fs.meta, fs.at[fMeta]
	if m.read {
		return m
	}
	if m.read = true; of.Kind() != jsonscan.Object {
		m.more = of != ""
		return m
	}
	for key, value := range of.Members() {
		name := key.Text()
		switch name {
		case "progressToken":
			if isToken(value) {
				m.progressToken = value.Bytes()
				continue // tokenKind
			}
		case "io.modelcontextprotocol/protocolVersion":
			m.modern = value.Kind() == jsonscan.String
		}
		if (name == "sessionId" || name == "threadId" && m.session == "") && value.Kind() == jsonscan.String && markKind(value) == passing {
			m.session = value.Text() // Codex 0.169; a session may have several threads
		}
		switch metaKind(name, value) {
		case part:
			m.more = true
		case protocols:
			m.quiet ^= digestMember(name, string(value))
		case passing:
		}
	}
	return m
}

func digestMember(name, value string) uint64 {
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
	case s == named && fs.at[fArguments].Kind() != jsonscan.Object && fs.at[fArguments].Kind() != jsonscan.Null:
		known &^= 1 << fArguments
	}
	m := fs.readMeta()
	c.Quiet, c.Session = m.quiet, m.session
	if fs.seen&^known == 0 && !m.more {
		return
	}
	if fs.seen&known == 0 {
		c.Extra = fs.params.Bytes() // all of it
		return
	}
	c.Extra = fs.extraParams(known, m.more)
}

// extraParams gives what is left of params without what is known, and of its _meta, when
// there is more in it, without what is not told.
func (fs *fields) extraParams(known fieldSet, more bool) []byte {
	b := []byte{'{'} // it grows: beside the rest of params it is small
	for key, value := range fs.params.Members() {
		switch name := key.Text(); {
		case name == "_meta" && !more:
		case name == "_meta" && value.Kind() == jsonscan.Object:
			b = append(appendMember(b, key, ""), '{')
			for key, value := range value.Members() {
				if metaKind(key.Text(), value) == part {
					b = appendMember(b, key, value)
				}
			}
			b = append(b, '}')
		case name == "_meta", known&fieldNamed(name) == 0:
			b = appendMember(b, key, value)
		}
	}
	return append(b, '}')
}

func appendMember(b []byte, key, value jsonscan.Value) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(append(b, key...), ':'), value...)
}

// onlyMember says that an object has no other member, or that there is none.
func onlyMember(o jsonscan.Value, name string) bool {
	for key := range o.Members() {
		if key.Text() != name {
			return false
		}
	}
	return o == "" || o.Kind() == jsonscan.Object
}

// allTexts says that sampling messages are nothing but texts of the user.
func allTexts(messages jsonscan.Value) bool {
	for message := range messages.Elements() {
		members := 0
		for key, value := range message.Members() {
			members++
			switch name := key.Text(); {
			case name == "role" && value.Text() == "user":
			case name == "content" && oneText(value):
			default:
				return false
			}
		}
		if members != 2 {
			return false
		}
	}
	return messages.Kind() == jsonscan.Array
}

func oneText(block jsonscan.Value) bool {
	members := 0
	for key, value := range block.Members() {
		members++
		switch name := key.Text(); {
		case name == "type" && value.Text() == "text":
		case name == "text" && value.Kind() == jsonscan.String:
		default:
			return false
		}
	}
	return members == 2
}
