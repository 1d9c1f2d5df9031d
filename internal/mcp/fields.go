package mcp

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/jsonscan"
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

// fields are the members of one params object.
type fields struct {
	params jsonscan.Value // the whole object
	at     [fieldsRead]jsonscan.Value
	seen   fieldSet
	near   string // a member that folds to a known one and is not it
	meta   meta
}

// fieldSet is a set of members of params; unknown stands for all that no version
// has.
type fieldSet uint64

const unknown fieldSet = 1 << 63

// fieldNamed gives the member of that name.
func fieldNamed(name string) fieldSet {
	if i := slices.Index(fieldNames[:], name); i >= 0 {
		return 1 << i
	}
	return unknown
}

// readFields walks params once. An absent params has no members.
func readFields(params jsonscan.Value, index *jsonscan.Index) (fs fields) {
	fs.params = params
	for key, value := range params.IndexedMembers(index) {
		name := key.Text()
		i := slices.Index(fieldNames[:], name)
		if i < 0 {
			fs.seen |= unknown
			if foldsTo(name, fieldNames[:]...) {
				fs.near = name
			}
			continue
		}
		fs.seen |= 1 << i
		if i < int(fieldsRead) {
			fs.at[i] = value
		}
	}
	return fs
}
