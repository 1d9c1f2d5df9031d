package modelapi

import "strings"

// API is the form of a service's requests and replies. The zero value stands for an unknown form.
type API uint8

// The forms: Messages of Anthropic, Responses and Chat Completions of OpenAI, and generateContent
// of Gemini.
const (
	NoAPI API = iota
	Messages
	Responses
	Chat
	Gemini
)

func (a API) String() string {
	return [...]string{"none", "messages", "responses", "chat", "gemini"}[a]
}

// paths are the ends of the URL paths to which agents post a conversation.
var paths = []struct {
	end string
	api API
}{
	{"/messages", Messages},
	{"/responses", Responses},
	{"/chat/completions", Chat},
	{":generateContent", Gemini},
	{":streamGenerateContent", Gemini},
}

// FindAPI returns the form of the requests to a URL path. It returns NoAPI if the requests to this
// path carry no conversation, or if their form is unknown.
func FindAPI(path string) API {
	path = strings.ToLower(strings.TrimRight(path, "/")) // in lower case, because some services ignore the case
	for _, p := range paths {
		if strings.HasSuffix(path, strings.ToLower(p.end)) {
			return p.api
		}
	}
	return NoAPI
}

// silent are the ends of URL paths whose requests add nothing to a model's conversation.
var silent = []string{"/count_tokens", ":countTokens", "/input_tokens", "/hello", "/models"}

// IsSilent reports whether requests to a URL path are known to add nothing to a conversation.
func IsSilent(path string) bool {
	for _, end := range silent {
		if before, found := strings.CutSuffix(path, end); found && (end != "/models" || FindAPI(before) == NoAPI) {
			return true
		}
	}
	return false
}

// FindCounted returns the form of a conversation that is sent to a URL path only to be counted or
// shortened. It returns NoAPI for any other path.
func FindCounted(path string) API {
	for _, end := range []string{"/count_tokens", "/input_tokens", "/compact"} {
		if before, found := strings.CutSuffix(path, end); found {
			return FindAPI(before)
		}
	}
	if strings.HasSuffix(path, ":countTokens") {
		return Gemini
	}
	return NoAPI
}

// Call is a tool call in a model's reply.
type Call struct {
	ID   string // id of the call; "" if the service gives none
	Name string // name of the tool as the client knows it, with its namespace
	Args []byte // the arguments as JSON; nil if there are none
	Text string // the input of a tool that takes a text instead of arguments
	Free bool   // the input is in Text, not in Args

	// Fixed means that the tool's name cannot be replaced, because the kind of the call names the
	// tool. Bad is the reason why the arguments cannot be read, or "".
	Fixed bool
	Bad   string
}

// isSame reports whether two calls have the same tool and the same arguments.
func (c *Call) isSame(o *Call) bool {
	return c.Name == o.Name && c.Free == o.Free && c.Text == o.Text && string(c.Args) == string(o.Args) && c.Bad == o.Bad
}
