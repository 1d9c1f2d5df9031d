package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Client is a client's description of itself.
type Client struct {
	Name, Version string // texts from the client, which may be hostile
	Form          bool   // the client can show a form with flat fields (client/elicitation)
}

// ClientOfInitialize reads the client's description from the params of an initialize request.
// Form is valid only if the negotiated version has elicitation (HasElicitation).
func ClientOfInitialize(params []byte) Client {
	o := jsonscan.ValueOf(params)
	return newClient(o.Member("clientInfo"), o.Member("capabilities"))
}

// HasElicitation reports whether a server may send elicitation/create in this version. In an
// unreleased version the method may have another meaning.
func HasElicitation(version string) bool { return version == "2025-06-18" || version == "2025-11-25" }

// ClientOfRequest reads the client's description from a request of version 2026-07-28 (basic,
// _meta), if the request may be answered with a form (basic/patterns/mrtr). The zero Client shows
// no forms.
func ClientOfRequest(method string, params []byte) Client {
	switch method {
	case "tools/call", "resources/read", "prompts/get":
	default:
		return Client{}
	}
	meta := jsonscan.ValueOf(params).Member("_meta")
	if meta.Member(MetaPrefix+"protocolVersion").Text() != ModernVersion {
		return Client{}
	}
	return newClient(meta.Member(MetaPrefix+"clientInfo"), meta.Member(MetaPrefix+"clientCapabilities"))
}

// NameClient returns the name and version that a client gives itself in the message that begins a
// session (initialize, or server/discover of version 2026-07-28). It returns "" for any other
// message. The result has about 200 bytes at most, and its content is not checked.
func NameClient(method string, params []byte) string {
	var c Client
	switch method {
	case "initialize":
		c = ClientOfInitialize(params)
	case "server/discover":
		c = newClient(jsonscan.ValueOf(params).Member("_meta").Member(MetaPrefix+"clientInfo"), "")
	default:
		return ""
	}
	name := strings.TrimSpace(c.Name + " " + c.Version)
	if len(name) > maxClientName {
		name = strings.ToValidUTF8(name[:maxClientName], "") + "…"
	}
	return name
}

const maxClientName = 200

func newClient(info, capabilities jsonscan.Value) Client {
	return Client{
		Name:    strings.Clone(info.Member("name").Text()), // the string outlives the frame
		Version: strings.Clone(info.Member("version").Text()),
		Form:    showsForms(capabilities.Member("elicitation")),
	}
}

// showsForms reports whether an elicitation capability includes forms. It also returns true for {}
// and for a capability that names no mode, because such a client is from the time before modes
// existed (MCP 2025-11-25 client/elicitation).
func showsForms(capability jsonscan.Value) bool {
	form, url := capability.Member("form"), capability.Member("url")
	return capability.Kind() == jsonscan.Object && (form.Kind() == jsonscan.Object || form == "" && url == "")
}

// formKey is the key of our own input request.
const formKey = "clawai"

// ElicitRequest returns a request of ours to the client (MCP 2025-06-18 client/elicitation). id is
// a JSON token, and schema is the JSON of a flat object.
func ElicitRequest(id []byte, message string, schema []byte) []byte {
	return RequestLine(id, elicitMethod, elicitParams(message, schema))
}

const elicitMethod = `"elicitation/create"`

func elicitParams(message string, schema []byte) []byte {
	return fmt.Appendf(nil, `{"message":%s,"requestedSchema":%s}`, escape.QuoteText(message), schema)
}

// InputRequired answers a request with a form (MCP 2026-07-28 basic/patterns/mrtr). The parameter
// state is a plain string, which the caller's retry must send back.
func InputRequired(id []byte, state, message string, schema []byte) []byte {
	return ResultLine(id, fmt.Appendf(nil, `{"resultType":"input_required","inputRequests":{"`+formKey+`":{"method":`+elicitMethod+`,"params":%s}},"requestState":%s}`,
		elicitParams(message, schema), escape.QuoteText(state)))
}

// CancelNotification tells the client that a request of ours has ended.
func CancelNotification(id []byte, reason string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":%s}}`, id, escape.QuoteText(reason))
}

// Elicited is the answer to a form: Action is accept, decline or cancel.
type Elicited struct {
	Action  string
	Content []byte // for accept: the JSON object of the form's fields
}

// maxContent is the largest size of an answer in bytes. An answer to one of our forms is smaller.
const maxContent = 64 << 10

// ReadElicited parses the result of an elicitation/create.
func ReadElicited(result []byte) (Elicited, error) { return parseElicited(jsonscan.ValueOf(result)) }

// ReadResponse parses the answer to our form in the inputResponses of a retry.
func ReadResponse(inputResponses []byte) (Elicited, error) {
	return parseElicited(jsonscan.ValueOf(inputResponses).Member(formKey))
}

func parseElicited(o jsonscan.Value) (Elicited, error) {
	switch {
	case o.Kind() != jsonscan.Object:
		return Elicited{}, errors.New("the client came back without an answer")
	case len(o) > maxContent:
		return Elicited{}, errors.New("the client's answer is too long")
	}
	action, content := o.Member("action"), o.Member("content")
	e := Elicited{Action: strings.Clone(action.Text())}
	switch {
	case hasFoldedMembers(o), hasFoldedMembers(content), action.Kind() != jsonscan.String:
	case e.Action == "decline", e.Action == "cancel":
		return e, nil
	case e.Action == "accept" && content.Kind() == jsonscan.Object:
		e.Content = []byte(content)
		return e, nil
	}
	return Elicited{}, errors.New("the client's answer is not an elicitation result")
}

// SameCall reports whether a retry repeats a call: the members of both params must be equal byte
// for byte. It ignores the members that belong to only one round. These are inputResponses and
// requestState (also of a server's own rounds), and in _meta the progress token and the trace
// context.
func SameCall(params, retry []byte) bool {
	return maps.Equal(paramMembers(params), paramMembers(retry))
}

// paramMembers returns the members of params and of its _meta, as written.
func paramMembers(params []byte) map[string]string {
	all := make(map[string]string)
	add := func(prefix string, o jsonscan.Value, skip ...string) {
		for key, value := range o.Members() {
			if name := key.Text(); !slices.Contains(skip, name) {
				all[prefix+name] = string(value)
			}
		}
	}
	o := jsonscan.ValueOf(params)
	meta := o.Member("_meta")
	if meta.Kind() != jsonscan.Object {
		add("params ", o, "inputResponses", "requestState")
		return all
	}
	add("params ", o, "inputResponses", "requestState", "_meta")
	add("_meta ", meta, "progressToken", "traceparent", "tracestate", "baggage")
	return all
}
