package mcp

import (
	"unsafe"

	"github.com/tidwall/gjson"
)

// A field is a member of params that the gate reads, or that a server acts on.
type field uint8

const (
	fName field = iota
	fArguments
	fURI
	fMeta
	fInputResponses
	fNotifications
	fSystemPrompt
	fMessages
	fTools
	fMessage
	fURL
	fTaskID
	fRequestID
	fRequestState
	fieldsRead // fields after this one are known, not read
)

// fieldNames are the members of params by field, in protocol case. Go and C#
// servers bind members without regard to case (CVE-2026-27896), so a member
// that is not one of these and folds to one is refused.
var fieldNames = [...]string{
	"name", "arguments", "uri", "_meta", "inputResponses", "notifications",
	"systemPrompt", "messages", "tools", "message", "url", "taskId", "requestId",
	"requestState",

	"task", "mode", "requestedSchema", "elicitationId", "ref",
	"argument", "context", "cursor", "level", "includeContext", "toolChoice",
	"protocolVersion", "capabilities", "progressToken", "inputRequests",
}

// fields are the members of one params object. Each value's Index is its offset
// in base, so that span finds its bytes again.
type fields struct {
	base   []byte       // the bytes that Index counts in
	params gjson.Result // the whole object
	at     [fieldsRead]gjson.Result
	seen   fieldSet
	near   string // a member that folds to a known one and is not it
	meta   meta
}

// fieldSet is a set of members of params; unknown stands for all that no version
// has.
type fieldSet uint64

const unknown fieldSet = 1 << 63

// fieldNamed is the member of that name.
func fieldNamed(name string) fieldSet {
	for i := range fieldNames {
		if fieldNames[i] == name {
			return 1 << i
		}
	}
	return unknown
}

// readFields walks params, a value found in base, once. An absent params has no
// members.
func readFields(base []byte, params gjson.Result) (fs fields) {
	fs.base, fs.params = base, params
	params.ForEach(func(key, value gjson.Result) bool {
		for i, name := range fieldNames {
			if key.Str == name {
				if i < int(fieldsRead) {
					fs.at[i] = value
				}
				fs.seen |= 1 << i
				return true
			}
		}
		fs.seen |= unknown
		if foldsTo(key.Str, fieldNames[:]...) {
			fs.near = key.Str
		}
		return true
	})
	return fs
}

// span is the bytes of a value found in base, not a copy.
func (fs *fields) span(v gjson.Result) []byte {
	if !v.Exists() {
		return nil
	}
	return fs.base[v.Index : v.Index+len(v.Raw) : v.Index+len(v.Raw)]
}

// object views bytes that proxy/frame has admitted as a value to walk. The view
// aliases b: a frame is never written to after it was read, and its Go strings
// keep it alive.
func object(b []byte) gjson.Result {
	if len(b) == 0 {
		return gjson.Result{}
	}
	return gjson.Result{Type: gjson.JSON, Raw: unsafe.String(unsafe.SliceData(b), len(b))}
}

// member finds a direct member of an object by its exact name.
func member(o gjson.Result, name string) (found gjson.Result) {
	if !o.IsObject() {
		return found
	}
	o.ForEach(func(key, value gjson.Result) bool {
		if key.Str == name {
			found = value
			return false
		}
		return true
	})
	return found
}
