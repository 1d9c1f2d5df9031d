package oauth

import (
	"slices"
	"strings"
)

// Grant is a way to get a token.
type Grant string

// The ways to get a token.
const (
	GrantCode   Grant = ""                   // the owner signs in on a page, and the browser brings a code back
	GrantDevice Grant = "device"             // the owner types a code into a page, on any device (RFC 8628)
	GrantClient Grant = "client_credentials" // the client's own secret or key is enough, and no person signs in
)

// Choices are the owner's choices for a sign-in. They are stored with the sign-in, so that a
// refresh and a later sign-in use them too.
type Choices struct {
	Grant      Grant    `json:"grant,omitempty"`
	Scopes     []string `json:"chosen_scopes,omitempty"` // scopes to request instead of the scopes that the server names
	NoResource bool     `json:"no_resource,omitempty"`   // requests name no resource (RFC 8707)
	Callback   string   `json:"callback,omitempty"`      // HOST:PORT or HOST:PORT/PATH of the page to which the browser comes back; "" means a free port
	KeyFile    string   `json:"key_file,omitempty"`      // PEM file with the key that signs the client's assertions (RFC 7523)
	KeyID      string   `json:"key_id,omitempty"`        // name of that key at the provider
}

// terms are the choices for a sign-in, and the client that the owner has registered.
type terms struct {
	Choices
	id, secret string // id is "" if the owner has registered no client
}

// Options returns the options of "clawai auth login" that repeat this sign-in. They contain no
// secrets.
func (e *StoredSignIn) Options() []string {
	return e.terms().options()
}

func (e *StoredSignIn) terms() terms {
	t := terms{Choices: e.Choices}
	if e.ByHand {
		t.id, t.secret = e.ClientID, e.ClientSecret
	}
	return t
}

func (t terms) options() (words []string) {
	add := func(option, value string) {
		if value != "" {
			words = append(words, option, quoteWord(value))
		}
	}
	switch t.Grant {
	case GrantDevice:
		words = append(words, "--device")
	case GrantClient:
		words = append(words, "--client-credentials")
	case GrantCode:
	}
	add("--client-id", t.id)
	if t.secret != "" {
		add("--client-secret-file", "FILE")
	}
	add("--client-key", t.KeyFile)
	add("--client-key-id", t.KeyID)
	add("--callback", t.Callback)
	add("--scope", strings.Join(t.Scopes, " "))
	if t.NoResource {
		words = append(words, "--no-resource")
	}
	return words
}

// loginCommand returns the command that signs in with these terms.
func (t terms) loginCommand(server string, more ...string) string {
	return strings.Join(slices.Concat([]string{"clawai auth login"}, more, t.options(), []string{quoteWord(server)}), " ")
}

// quoteWord quotes a word so that a shell reads it as one word.
func quoteWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+%"
	if strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
