package mcp

import (
	"hash/maphash"
	"slices"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// coveredFields has, for each shape, the members of params that are in a call's Names and Args. All
// other members are in the call's Extra, because the other side gets them too.
var coveredFields = [...]fieldSet{
	none:          0,
	named:         1<<fName | 1<<fArguments,
	oneURI:        1 << fURI,
	subscriptions: 0, // readExtra handles subscriptions
	sampling:      1 << fSystemPrompt,
	elicitation:   1<<fMessage | 1<<fURL,
}

// metaKinds are the keys of _meta that tell the receiver nothing about the call. Some are the
// protocol's own (MCP basic, _meta; traceparent of SEP-414). The others are marks that clients put
// on calls for their own logs. If the value of a key does not have the expected form, the key is
// treated like an unknown key.
var metaKinds = map[string]func(jsonscan.Value) kind{
	"progressToken": tokenKind,
	"traceparent":   identifierKind,
	"tracestate":    identifierKind,

	MetaPrefix + "protocolVersion":    ownKind,
	MetaPrefix + "clientInfo":         ownKind,
	MetaPrefix + "clientCapabilities": ownKind,
	MetaPrefix + "logLevel":           ownKind,
	MetaPrefix + "subscriptionId":     ownKind,
	MetaPrefix + "related-task":       ownKind,

	"claudecode/toolUseId":  markKind, // used by Claude Code 2.1
	"sessionId":             markKind, // this and the next four are used by Codex 0.169
	"threadId":              markKind,
	"callId":                markKind,
	"itemId":                markKind,
	"x-codex-turn-metadata": markKind,
	"vscode.conversationId": markKind, // this and the next are used by VS Code
	"vscode.requestId":      markKind,
}

// kind tells how a member of _meta is treated.
type kind uint8

const (
	callPart     kind = iota // a part of the call, so it is in Extra
	protocolPart             // not a part of the call, but an approval for a call with one value is not valid for a call with another value
	messagePart              // not a part of the call, because it is about only this message
)

func tokenKind(v jsonscan.Value) kind {
	if IsToken(v) {
		return messagePart
	}
	return callPart
}

// ownKind is for members that the protocol defines. They are never a part of the call, whatever
// value they have.
func ownKind(jsonscan.Value) kind { return protocolPart }

// markKind returns messagePart for an identifier (a short text, a number or a boolean) and for a
// flat object of identifiers, because they tell the receiver nothing. It returns callPart for every
// other value.
func markKind(v jsonscan.Value) kind {
	if v.Kind() != jsonscan.Object {
		return identifierKind(v)
	}
	for key, inner := range v.Members() {
		if k := min(identifierKind(key), identifierKind(inner)); k != messagePart {
			return k
		}
	}
	return messagePart
}

// longestMark is the maximum length in bytes of an identifier. All identifiers of the clients above
// are shorter.
const longestMark = 128

// identifierKind returns messagePart only for an identifier.
func identifierKind(v jsonscan.Value) kind {
	switch v.Kind() {
	case jsonscan.Number, jsonscan.Boolean:
		return messagePart
	case jsonscan.String:
	default:
		return callPart
	}
	text := v.Text()
	if len(text) > longestMark {
		return callPart
	}
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':', c == '=', c == ',', c == '@':
		default:
			return callPart
		}
	}
	return messagePart
}

// seed is the seed of all Quiet values. So the values of two calls can be compared, but only in one
// process.
var seed = maphash.MakeSeed()

// metaKind tells how this member of _meta is treated.
func metaKind(name string, value jsonscan.Value) kind {
	if kindOf := metaKinds[name]; kindOf != nil {
		return kindOf(value)
	}
	return callPart
}

// meta is the parsed _meta.
type meta struct {
	read          bool
	progressToken []byte // a JSON token; nil if there is none
	modern        bool   // _meta states the protocol version
	more          bool   // _meta has a member of kind callPart
	quiet         uint64 // see Quiet in policy.Call
	session       string // see Session in policy.Call
	traceparent   string // the trace context; "" if there is none in the form of event.IsTraceparent
}

// readMeta parses _meta the first time it is called.
func (fs *fields) readMeta() *meta {
	m, object := &fs.meta, fs.at[fMeta]
	if m.read {
		return m
	}
	if m.read = true; object.Kind() != jsonscan.Object {
		m.more = object != ""
		return m
	}
	for key, value := range object.Members() {
		name := key.Text()
		switch name {
		case "progressToken":
			if IsToken(value) {
				m.progressToken = value.Bytes()
				continue // tokenKind handles it
			}
		case "traceparent":
			if text := value.Text(); event.IsTraceparent(text) {
				m.traceparent = text
			}
		case MetaPrefix + "protocolVersion":
			m.modern = value.Kind() == jsonscan.String
		}
		if (name == "sessionId" || name == "threadId" && m.session == "") && value.Kind() == jsonscan.String && markKind(value) == messagePart {
			m.session = value.Text() // from Codex 0.169, in which a session may have several threads
		}
		switch metaKind(name, value) {
		case callPart:
			m.more = true
		case protocolPart:
			m.quiet ^= digestMember(name, string(value))
		case messagePart:
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

// readExtra sets the Extra and the Quiet of a call.
func (fs *fields) readExtra(s shape, c *policy.Call) {
	if fs.seen == 0 {
		return
	}
	known := coveredFields[s] | 1<<fMeta
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
		c.Extra = fs.params.Bytes() // Extra is all of params
		return
	}
	c.Extra = fs.extraParams(known, m.more)
}

// extraParams returns params without the known members. If more is true, the result has the part of
// _meta that belongs to the call.
func (fs *fields) extraParams(known fieldSet, more bool) []byte {
	b := []byte{'{'} // starts small, because the result is usually small compared with params
	for key, value := range fs.params.Members() {
		switch name := key.Text(); {
		case name == "_meta" && !more:
		case name == "_meta" && value.Kind() == jsonscan.Object:
			b = append(appendMember(b, key, ""), '{')
			for key, value := range value.Members() {
				if metaKind(key.Text(), value) == callPart {
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

// onlyMember reports whether an object has no other members than these.
func onlyMember(o jsonscan.Value, names ...string) bool {
	for key := range o.Members() {
		if !slices.Contains(names, key.Text()) {
			return false
		}
	}
	return o == "" || o.Kind() == jsonscan.Object
}

// allTexts reports whether all sampling messages are plain texts of the user.
func allTexts(messages jsonscan.Value) bool {
	for message := range messages.Elements() {
		content := message.Member("content")
		if !onlyMember(message, "role", "content") || message.Member("role").Text() != "user" ||
			!onlyMember(content, "type", "text") || content.Member("type").Text() != "text" || content.Member("text").Kind() != jsonscan.String {
			return false
		}
	}
	return messages.Kind() == jsonscan.Array
}
