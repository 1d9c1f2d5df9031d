package mcp

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// A field is a member of params that the gate or a server reads.
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
	fieldsRead // the fields after this one are known but not read
)

// fieldNames are the names of the known members of params, in the order of the fields and in the
// protocol's spelling. Go and C# servers ignore the case of these names (CVE-2026-27896). So an
// unknown member is refused if it folds to a known name.
var fieldNames = [...]string{
	"name", "arguments", "uri", "_meta", "inputResponses", "notifications",
	"systemPrompt", "messages", "tools", "message", "url", "taskId", "requestId",
	"requestState",

	"task", "mode", "requestedSchema", "elicitationId", "ref",
	"argument", "context", "cursor", "level", "includeContext", "toolChoice",
	"protocolVersion", "capabilities", "progressToken", "inputRequests",
}

// fields holds the members of one params object.
type fields struct {
	params jsonscan.Value // the whole object
	at     [fieldsRead]jsonscan.Value
	seen   fieldSet // the set of the members in params
	near   string   // name of an unknown member that folds to a known name
	meta   meta
}

// fieldSet is a set of members of params. unknown stands for all members that no version has.
type fieldSet uint64

const unknown fieldSet = 1 << 63

// fieldNamed returns the set with only the member of this name.
func fieldNamed(name string) fieldSet {
	if i := slices.Index(fieldNames[:], name); i >= 0 {
		return 1 << i
	}
	return unknown
}

// readFields reads params in one pass. Missing params have no members.
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
