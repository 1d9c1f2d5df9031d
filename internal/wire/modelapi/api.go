package modelapi

import "strings"

// API is the form of a service's requests and replies. The zero value stands for an unknown form.
type API uint8

// The forms.
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

// paths are the ends of the paths to which agents post a conversation.
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

// FindAPI returns the form of the requests to a path; NoAPI for a path that takes no conversation,
// or one in a form that is not known.
func FindAPI(path string) API {
	path = strings.ToLower(strings.TrimRight(path, "/")) // some services take any case
	for _, p := range paths {
		if strings.HasSuffix(path, strings.ToLower(p.end)) {
			return p.api
		}
	}
	return NoAPI
}

// silent are the ends of paths whose requests bring nothing to a model's conversation.
var silent = []string{"/count_tokens", ":countTokens", "/input_tokens", "/hello", "/models"}

// IsSilent reports whether a path is known to take no part in a conversation.
func IsSilent(path string) bool {
	for _, end := range silent {
		if before, found := strings.CutSuffix(path, end); found && (end != "/models" || FindAPI(before) == NoAPI) {
			return true
		}
	}
	return false
}

// FindCounted returns the form of the requests to a path that sends a conversation to have it counted or
// shortened; NoAPI for any other.
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

// Call is a tool call that a model asks for.
type Call struct {
	ID   string // "" where the service gives none
	Name string // as the client looks it up, with its namespace
	Args []byte // the arguments as JSON; nil for none
	Text string // the input of a tool that takes a text in place of arguments
	Free bool   // the tool gets Text

	// Fixed means that the name cannot be replaced: the service names the tool by the kind of the
	// call. Bad says why the arguments cannot be read; "" when they can.
	Fixed bool
	Bad   string
}

// isSame reports whether two versions of a call have the same tool and the same arguments.
func (c *Call) isSame(o *Call) bool {
	return c.Name == o.Name && c.Free == o.Free && c.Text == o.Text && string(c.Args) == string(o.Args) && c.Bad == o.Bad
}
