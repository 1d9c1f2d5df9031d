package mcp

import (
	"hash/maphash"
	"slices"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// coveredFields are, by shape, the members of params that a call's Names and Args contain. All
// other members reach the other side too: they are the call's Extra.
var coveredFields = [...]fieldSet{
	none:          0,
	named:         1<<fName | 1<<fArguments,
	oneURI:        1 << fURI,
	subscriptions: 0, // see readExtra
	sampling:      1 << fSystemPrompt,
	elicitation:   1<<fMessage | 1<<fURL,
}

// metaKinds are the keys of _meta that tell the receiver nothing about the call: the protocol's own
// (MCP basic, _meta; traceparent of SEP-414), and marks that clients put on calls for their own
// logs. A key whose value does not have the expected form counts like any other key.
var metaKinds = map[string]func(jsonscan.Value) kind{
	"progressToken": tokenKind,
	"traceparent":   markKind,
	"tracestate":    markKind,

	MetaPrefix + "protocolVersion":    ownKind,
	MetaPrefix + "clientInfo":         ownKind,
	MetaPrefix + "clientCapabilities": ownKind,
	MetaPrefix + "logLevel":           ownKind,
	MetaPrefix + "subscriptionId":     ownKind,
	MetaPrefix + "related-task":       ownKind,

	"claudecode/toolUseId":  markKind, // Claude Code 2.1
	"sessionId":             markKind, // Codex 0.169, this and the next four
	"threadId":              markKind,
	"callId":                markKind,
	"itemId":                markKind,
	"x-codex-turn-metadata": markKind,
	"vscode.conversationId": markKind, // VS Code, this and the next
	"vscode.requestId":      markKind,
}

// kind is how a member of _meta is treated.
type kind uint8

const (
	callPart     kind = iota // a part of the call: it belongs to Extra
	protocolPart             // set by the protocol, not a part of the call; but an approval for one value does not hold for another
	messagePart              // about this one message only, not a part of the call
)

func tokenKind(v jsonscan.Value) kind {
	if IsToken(v) {
		return messagePart
	}
	return callPart
}

// ownKind is for members that the protocol defines: they are never a part of the call, whatever
// their value is.
func ownKind(jsonscan.Value) kind { return protocolPart }

// markKind is for an identifier, or a flat object of identifiers, which tells the receiver nothing.
// A value of another form is a part of the call.
func markKind(v jsonscan.Value) kind {
	if v.Kind() != jsonscan.Object {
		return kindOfMark(v)
	}
	for key, inner := range v.Members() {
		if k := min(kindOfMark(key), kindOfMark(inner)); k != messagePart {
			return k
		}
	}
	return messagePart
}

// longestMark is more than the longest identifier of the clients above.
const longestMark = 128

func kindOfMark(v jsonscan.Value) kind {
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

// seed is the seed of all Quiet values: those of two calls can be compared, but only in one
// process.
var seed = maphash.MakeSeed()

// metaKind returns the kind of a member of _meta.
func metaKind(name string, value jsonscan.Value) kind {
	if kindOf := metaKinds[name]; kindOf != nil {
		return kindOf(value)
	}
	return callPart
}

// meta is the parsed _meta.
type meta struct {
	read          bool
	progressToken []byte // a JSON token; nil when absent
	modern        bool   // _meta names the version
	more          bool   // _meta has a member that is a callPart
	quiet         uint64 // see policy.Call
	session       string // see policy.Call
}

// readMeta parses _meta, once.
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
				continue // handled by tokenKind
			}
		case MetaPrefix + "protocolVersion":
			m.modern = value.Kind() == jsonscan.String
		}
		if (name == "sessionId" || name == "threadId" && m.session == "") && value.Kind() == jsonscan.String && markKind(value) == messagePart {
			m.session = value.Text() // Codex 0.169; a session may have several threads
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

// readExtra fills in a call's Extra and Quiet.
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
		c.Extra = fs.params.Bytes() // all of params
		return
	}
	c.Extra = fs.extraParams(known, m.more)
}

// extraParams returns params without the known members and, if more is set, with the part of
// _meta that belongs to the call.
func (fs *fields) extraParams(known fieldSet, more bool) []byte {
	b := []byte{'{'} // grows on demand: small compared with the rest of params
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

// onlyMember reports whether an object has no members except these.
func onlyMember(o jsonscan.Value, names ...string) bool {
	for key := range o.Members() {
		if !slices.Contains(names, key.Text()) {
			return false
		}
	}
	return o == "" || o.Kind() == jsonscan.Object
}

// allTexts reports whether all sampling messages are texts of the user.
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
