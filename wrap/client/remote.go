package client

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// remote holds the parts of a remote entry. The entry can be bare, a bridge (bridge.go), or
// redirected (redirect.go).
type remote struct {
	url        *member // the member with the address; in a bridge, the variable with the address, or nil
	inner      *node   // in a bridge: the word after "--"
	headers    []header
	original   []string     // in a bridge: the words of --was; otherwise nil
	redirected *redirectURL // the parts of the url; nil if the entry is not redirected
	kept       *fault       // why the entry cannot become a bridge; nil if it can

	holder     *member   // the member with the headers; in a bridge, the environment
	env        *member   // the environment of an entry that is no bridge; the server does not get it
	bearer     *member   // the member with the name of the variable that holds the bearer token; in a bridge, the variable
	envHeaders bool      // the headers have names of variables as values
	idle       []*member // empty members that are not allowed in a bridge (cut.go)
}

// header is one header of a remote entry, and the member that contains it.
type header struct {
	name   string
	member *member
}

// Variables in the environment of a bridge. They hold what must not be on a command line.
// cmd/clawai/internal/proxycmd reads them.
const (
	urlVariable       = "CLAWAI_URL"
	urlReference      = "env:" + urlVariable
	headerVariable    = "CLAWAI_HEADER_"     // CLAWAI_HEADER_1="Name: value"
	headerEnvVariable = "CLAWAI_HEADER_ENV_" // CLAWAI_HEADER_ENV_1="Name: ${VARIABLE}"
	bearerVariable    = headerEnvVariable + "0"
)

// shared are members that mean the same for a process and for a remote server. If an entry has
// another member that is not empty, it cannot become a bridge, because the client may need this
// member to sign in.
var shared = []string{
	"name", "title", "description", "notes", "icon", "version", "source", "fromGalleryId", "gallery",
	"enabled", "disabled", "required", "bundled", "trust", "timeout", "timeoutMs", "initTimeout", "connectionTimeout",
	"startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec",
	"tools", "toolFilter", "includeTools", "excludeTools", "enabledTools", "disabledTools", "enabled_tools", "disabled_tools",
	"available_tools", "default_tools_approval_mode", "autoApprove", "alwaysAllow", "alwaysLoad", "deferTools",
}

// types are the transports that clawai supports, in lower case and without - and _.
var types = []string{"http", "sse", "streamablehttp", "remote"}

var (
	headerName   = lazyPattern(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	variableName = lazyPattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// ownHeader matches the headers that the transport itself sets (proxy/remote.OwnHeaders). clawai
// does not accept them as options. Accept and Content-Type are left out, because many entries have
// them and clawai ignores them.
var ownHeader = lazyPattern(`(?i)^(accept-encoding|connection|content-encoding|content-length|host|last-event-id|` +
	`mcp-(session-id|protocol-version|method|name|param-.*)|transfer-encoding|upgrade|te|trailer)$`)

// lazyPattern compiles a pattern at its first use, because compiling it in a package variable would
// delay every start of the proxy.
func lazyPattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// isEmpty reports whether a value has no effect: null, false, or an empty object or list.
func (n *node) isEmpty() bool {
	switch n.kind {
	case nullKind:
		return true
	case objectKind:
		return len(n.members) == 0
	case listKind:
		return len(n.items) == 0
	}
	return n.kind == otherKind && n.text == "false"
}

// isStrict reports whether the client rejects a file in which a process has members of a remote
// entry, or a remote entry has members of a process.
func (r Row) isStrict() bool { return r.StrictKeys || len(r.ExclusiveFields) > 0 }

// fillsText reports whether the client may expand a text in a url or a header.
func (r Row) fillsText(text string) bool {
	return strings.Contains(text, "$") && !r.EnvExpands || r.expandsText(text)
}

// HidesAddress reports whether an address must not be on a command line, because the client expands
// a part of it or because it may contain a secret.
func (r Row) HidesAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil || r.fillsText(address) || u.User != nil || strings.ContainsAny(address, "?#") {
		return true
	}
	return slices.ContainsFunc(strings.Split(u.Path, "/"), func(segment string) bool {
		return len(segment) >= 16 && strings.ContainsAny(segment, "0123456789")
	})
}

// meaningWords returns the words that determine the effect of an entry: the words of the command,
// or the address and the headers. Two entries with the same effect have the same words.
func (sh shape) meaningWords() []string {
	if sh.kind != Remote {
		return nodeTexts(sh.words)
	}
	r := sh.remote
	said := []string{"remote", r.remoteAddress()}
	for _, h := range r.headers {
		text := h.member.value.text
		if r.original == nil {
			text = headerLead(h.name, h.member.value.plain, r.envHeaders) + text
			if r.envHeaders {
				text += "}"
			}
		}
		name, value, _ := strings.Cut(text, ":")
		said = append(said, name+":"+strings.TrimSpace(value)) // leave out the blanks around the value, because a client does not send them
	}
	if r.bearer != nil {
		text := r.bearer.value.text
		if r.original == nil {
			text = bearerLine(text)
		}
		said = append(said, text)
	}
	return said
}

func (r *remote) remoteAddress() string {
	switch {
	case r.redirected != nil:
		return r.redirected.original
	case r.url != nil:
		return r.url.value.text
	case r.inner != nil:
		return r.inner.text
	}
	return ""
}

// signsIn reports whether the entry has no Authorization header. The client then signs in by itself
// if necessary.
func (r *remote) signsIn() bool {
	return r.bearer == nil && !slices.ContainsFunc(r.headers, func(h header) bool { return strings.EqualFold(h.name, "Authorization") })
}

func bearerLine(variable string) string { return fmt.Sprintf("Authorization: Bearer ${%s}", variable) }

// headerLead returns the text before the value of a header in the environment. The parameter
// variable is true if the value is the name of a variable. The parameter plain is true if the value
// is a YAML scalar without quotes. Then there must be no blank after the colon, because a blank
// would need quotes.
func headerLead(name string, plain, variable bool) string {
	switch {
	case variable:
		return name + ": ${"
	case plain:
		return name + ":"
	}
	return name + ": "
}
