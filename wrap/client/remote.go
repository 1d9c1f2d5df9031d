package client

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// remote holds the parts of a remote entry: a bare one, or one in the form that wrap writes
// (bridge.go).
type remote struct {
	url        *member // the address; when wrapped, the member in the environment, or nil
	inner      *node   // when wrapped: the word after --
	headers    []header
	original   []string     // when wrapped: the words of --was
	redirected *redirectURL // when wrapped: the url leads to clawai's proxy (redirect.go)
	kept       *fault       // reason why it cannot become a process

	holder     *member // member with the headers: the row's headers or env-headers, or env when wrapped
	env        *member // environment of a bare entry, which has no meaning for its server
	bearer     *member
	envHeaders bool      // the headers name variables
	idle       []*member // empty members that would break the file (cut.go)
}

// header is one header of a remote entry, and the member that holds it.
type header struct {
	name   string
	member *member
}

// The environment of a wrapped remote server holds what must not be on a command line
// (cmd/clawai/internal/proxycmd reads it).
const (
	urlVariable       = "CLAWAI_URL"
	urlReference      = "env:" + urlVariable
	headerVariable    = "CLAWAI_HEADER_"     // CLAWAI_HEADER_1="Name: value"
	headerEnvVariable = "CLAWAI_HEADER_ENV_" // CLAWAI_HEADER_ENV_1="Name: ${VARIABLE}"
	bearerVariable    = headerEnvVariable + "0"
)

// shared lists members that mean the same for a process as for a remote server. Any other
// member is refused unless it is empty: it may be how the client signs in.
var shared = []string{
	"name", "title", "description", "notes", "icon", "version", "source", "fromGalleryId", "gallery",
	"enabled", "disabled", "required", "bundled", "trust", "timeout", "timeoutMs", "initTimeout", "connectionTimeout",
	"startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec",
	"tools", "toolFilter", "includeTools", "excludeTools", "enabledTools", "disabledTools", "enabled_tools", "disabled_tools",
	"available_tools", "default_tools_approval_mode", "autoApprove", "alwaysAllow", "alwaysLoad", "deferTools",
}

// types lists the transports that clawai speaks, in lower case and without - and _.
var types = []string{"http", "sse", "streamablehttp", "remote"}

var (
	headerName   = lazyPattern(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	variableName = lazyPattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// ownHeader matches headers that the transport sets, so that clawai refuses them
// (proxy/remote.OwnHeaders). Entries often set Accept and Content-Type; clawai ignores these
// two.
var ownHeader = lazyPattern(`(?i)^(accept-encoding|connection|content-encoding|content-length|host|last-event-id|` +
	`mcp-(session-id|protocol-version|method|name|param-.*)|transfer-encoding|upgrade|te|trailer)$`)

// lazyPattern compiles a pattern at its first use: a pattern that is compiled in a package
// variable would delay every start of the proxy.
func lazyPattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// isEmpty reports whether a value asks for nothing.
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

// isStrict reports whether a member of the other kind of entry breaks the file.
func (r Row) isStrict() bool { return r.StrictKeys || len(r.ExclusiveFields) > 0 }

// fillsText reports whether the client may expand a text in a url or a header.
func (r Row) fillsText(text string) bool {
	return strings.Contains(text, "$") && !r.EnvExpands || r.expandsText(text)
}

// HidesAddress reports whether an address must not be on a command line: it is unknown before
// the client has expanded it, or it has a part that may be a key.
func (r Row) HidesAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil || r.fillsText(address) || u.User != nil || strings.ContainsAny(address, "?#") {
		return true
	}
	return slices.ContainsFunc(strings.Split(u.Path, "/"), func(segment string) bool {
		return len(segment) >= 16 && strings.ContainsAny(segment, "0123456789")
	})
}

// meaningWords returns what an entry starts or reaches, for comparison: its words, or the
// address and the headers as they will be sent.
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
		said = append(said, name+":"+strings.TrimSpace(value)) // as it is sent
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

// signsIn reports whether no Authorization header is sent.
func (r *remote) signsIn() bool {
	return r.bearer == nil && !slices.ContainsFunc(r.headers, func(h header) bool { return strings.EqualFold(h.name, "Authorization") })
}

func bearerLine(variable string) string { return fmt.Sprintf("Authorization: Bearer ${%s}", variable) }

// headerLead returns the text before a header's value in the environment. A bare YAML scalar
// stays bare when no blank follows the colon.
func headerLead(name string, plain, variable bool) string {
	switch {
	case variable:
		return name + ": ${"
	case plain:
		return name + ":"
	}
	return name + ": "
}
