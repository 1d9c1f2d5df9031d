package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/upstream"
	"github.com/clawai/clawai/policy/glob"
)

// Hub holds the hub's part of config.toml: its servers in the order of the file, and how the hub
// shows their tools. docs/hub.md describes each setting.
type Hub struct {
	Servers            []Upstream
	PrefixDescriptions bool          // write "[ID] " before the description of every tool
	ListWait           time.Duration // how long a list waits for a server
	SessionIdle        time.Duration // how long the hub over HTTP keeps an unused session
}

// Upstream is one server of a hub. Variables in its settings are expanded.
type Upstream struct {
	ID      string // the server's name in rules
	Prefix  string // prefix of the names of the server's tools: its alias, or else its id; "" for no prefix
	Command []string
	URL     string // address of a remote server; "" for a server with a command
	SSE     bool   // try the transport of MCP 2024-11-05 first
	Env     map[string]string
	Header  map[string]string // HTTP headers for a remote server
	Dir     string            // folder in which the server is started; "" means the hub's own folder
	Tools   []*glob.Pattern   // the tools that the hub offers; empty means all
	Hide    []*glob.Pattern   // tools that the hub does not offer

	Disabled bool
	Idle     time.Duration // the server is stopped after this time without a call; 0 means never
	Timeout  time.Duration // time limit for the start of the server

	// Unusable is the reason why the server cannot be started: a variable is not set. It is nil if
	// the server can be started.
	Unusable error
}

// Defaults of the hub and its servers.
const (
	defaultIdle    = 10 * time.Minute
	defaultTimeout = 30 * time.Second

	defaultListWait    = 3 * time.Second
	defaultSessionIdle = 10 * time.Minute
)

type hubTable struct {
	PrefixDescriptions *bool  `toml:"prefix_descriptions"`
	ListWait           string `toml:"list_wait"`
	SessionIdle        string `toml:"session_idle"`
}

type upstreamTable struct {
	Command  any               `toml:"command"`
	Args     []string          `toml:"args"`
	URL      string            `toml:"url"`
	Type     string            `toml:"type"`
	Env      map[string]string `toml:"env"`
	Headers  map[string]string `toml:"headers"`
	Cwd      string            `toml:"cwd"`
	Alias    string            `toml:"alias"`
	Bare     bool              `toml:"bare"`
	Tools    []string          `toml:"tools"`
	Hide     []string          `toml:"hide"`
	Disabled bool              `toml:"disabled"`
	Idle     string            `toml:"idle"`
	Timeout  string            `toml:"timeout"`
}

// tomlKeys returns the keys of a table.
func tomlKeys[T any]() (keys []string) {
	for t := reflect.TypeFor[T](); len(keys) < t.NumField(); {
		keys = append(keys, t.Field(len(keys)).Tag.Get("toml"))
	}
	return keys
}

// LoadHub reads the hub's part of config.toml. The file need not exist, and is refused for the same
// reasons as in LoadAsk. If a variable of a server is not set, the list still contains this server,
// with the reason in Unusable. The error names the file and line, but no value of a variable.
func LoadHub(f Folders, lookup func(string) (string, bool)) (Hub, error) {
	path := f.SettingsFile()
	src, err := ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Hub{}, fmt.Errorf("settings %s: %w", path, err)
	}
	return ParseHub(f, src, lookup)
}

// ParseHub parses a text in the same way as LoadHub parses config.toml.
func ParseHub(f Folders, src []byte, lookup func(string) (string, bool)) (Hub, error) {
	h, path := Hub{PrefixDescriptions: true, ListWait: defaultListWait, SessionIdle: defaultSessionIdle}, f.SettingsFile()
	file, err := readSettings(path, src)
	if err != nil {
		return Hub{}, err
	}
	lines := keyLines(src)
	if p := file.Hub.PrefixDescriptions; p != nil {
		h.PrefixDescriptions = *p
	}
	for _, one := range []struct {
		key, text string
		to        *time.Duration
	}{{"hub.list_wait", file.Hub.ListWait, &h.ListWait}, {"hub.session_idle", file.Hub.SessionIdle, &h.SessionIdle}} {
		if one.text == "" {
			continue
		}
		if *one.to, err = time.ParseDuration(one.text); err != nil || *one.to <= 0 {
			return Hub{}, fmt.Errorf("%s:%d: %s: %q is not a time to wait; write one like 10s", path, tableLine(lines, one.key), one.key, one.text)
		}
	}
	place := func(id string) int { return tableLine(lines, "upstream."+id) }
	for _, id := range slices.SortedFunc(maps.Keys(file.Upstream), func(a, b string) int { return cmp.Compare(place(a), place(b)) }) {
		u, err := file.Upstream[id].readUpstream(id, expander{lookup, f.Home, filepath.Dir(path)})
		if err == nil {
			err = checkNames(h.Servers, u)
		}
		if err != nil {
			return Hub{}, fmt.Errorf("%s:%d: upstream.%s: %w", path, place(id), id, err)
		}
		h.Servers = append(h.Servers, u)
	}
	return h, nil
}

// tableLine returns the line of the first key in a table; 0 if the table has no key.
func tableLine(lines map[string]int, table string) (first int) {
	for key, line := range lines {
		if (key == table || strings.HasPrefix(key, table+".")) && (first == 0 || line < first) {
			first = line
		}
	}
	return first
}

// checkNames returns an error if tools of u could have the same name as tools of another server. It
// also compares disabled servers, because enabling a server must not change the names of other
// tools.
func checkNames(others []Upstream, u Upstream) error {
	for _, o := range others {
		if u.Prefix == "" && o.Prefix == "" {
			return fmt.Errorf("upstream.%s is bare, too; tools of both could have one name, so only one server may be", o.ID)
		}
		for _, name := range []string{u.ID, u.Prefix} {
			if name == o.Prefix || name == o.ID {
				return fmt.Errorf("%q is what the tools of upstream.%s begin with, too; give one of them another alias", name, o.ID)
			}
		}
	}
	return nil
}

func (t upstreamTable) readUpstream(id string, in expander) (u Upstream, err error) {
	u = Upstream{ID: id, Prefix: cmp.Or(t.Alias, id), URL: t.URL, SSE: t.Type == "sse", Disabled: t.Disabled, Idle: defaultIdle, Timeout: defaultTimeout}
	for _, name := range []string{id, u.Prefix} {
		if err := upstream.CheckID(name); err != nil {
			return u, err
		}
	}
	if t.Bare && t.Alias != "" {
		return u, errors.New("alias is what its names begin with, and bare that they begin with nothing; keep one of them")
	}
	if t.Bare {
		u.Prefix = ""
	}
	if u.Command, err = t.readCommand(); err != nil {
		return u, err
	}
	if t.Idle != "" {
		if u.Idle, err = time.ParseDuration(t.Idle); err != nil || u.Idle < 0 {
			return u, fmt.Errorf("idle: %q is not a time; write one like 10m, or 0s for never", t.Idle)
		}
	}
	if t.Timeout != "" {
		if u.Timeout, err = time.ParseDuration(t.Timeout); err != nil || u.Timeout <= 0 {
			return u, fmt.Errorf("timeout: %q is not a time to wait; write one like 30s", t.Timeout)
		}
	}
	for _, g := range []struct {
		key   string
		texts []string
		to    *[]*glob.Pattern
	}{{"tools", t.Tools, &u.Tools}, {"hide", t.Hide, &u.Hide}} {
		for _, text := range g.texts {
			p, err := glob.Compile(text)
			if err != nil {
				return u, fmt.Errorf("%s: %q is not a pattern: %w", g.key, text, err)
			}
			*g.to = append(*g.to, p)
		}
	}
	u.Unusable = in.expandVariables(&u, t)
	return u, nil
}

// readCommand returns the command of a server and its arguments. The value of the key "command" is
// one word or a list of words.
func (t upstreamTable) readCommand() (words []string, err error) {
	switch c := t.Command.(type) {
	case nil:
	case string:
		words = []string{c}
	case []any:
		for _, word := range c {
			text, ok := word.(string)
			if !ok {
				return nil, errors.New("command: it is a list of texts")
			}
			words = append(words, text)
		}
	default:
		return nil, errors.New("command: it is a text or a list of texts")
	}
	remote := t.URL != ""
	switch started := len(words) > 0 && words[0] != ""; {
	case started == remote:
		return nil, errors.New("it needs a command to start, or the url of a server that runs, and not both")
	case remote && (len(t.Args) > 0 || len(t.Env) > 0 || t.Cwd != ""):
		return nil, errors.New("args, env and cwd are for a command; a url has headers")
	case started && len(t.Headers) > 0:
		return nil, errors.New("headers are for a url; a command has env")
	case t.Type != "" && (started || t.Type != "sse" && t.Type != "http"):
		return nil, errors.New(`type is what a url speaks: "http", or "sse" for the transport of 2024-11-05`)
	}
	return append(words, t.Args...), nil
}

// expander expands variables.
type expander struct {
	lookup     func(string) (string, bool)
	home, base string // the home folder for ~, and the folder at which relative paths begin
}

// expandVariables expands the variables in the fields of u. The error names the key whose variable
// is not set.
func (in expander) expandVariables(u *Upstream, t upstreamTable) (err error) {
	put := func(key, text string) string {
		value, failed := upstream.ExpandVariables(text, in.lookup)
		if failed != nil && err == nil {
			err = fmt.Errorf("%s: %w", key, failed)
		}
		return value
	}
	for i := len(u.Command) - len(t.Args); i < len(u.Command); i++ {
		u.Command[i] = put("args", u.Command[i])
	}
	u.URL, u.Dir = put("url", t.URL), put("cwd", t.Cwd)
	u.Env, u.Header = map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		u.Env[name] = put("env."+name, t.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		u.Header[name] = put("headers."+name, t.Headers[name])
	}
	if rest, ok := strings.CutPrefix(u.Dir, "~"); ok && (rest == "" || rest[0] == '/') {
		u.Dir = filepath.Join(in.home, rest)
	} else if u.Dir != "" && !filepath.IsAbs(u.Dir) {
		u.Dir = filepath.Join(in.base, u.Dir)
	}
	return err
}
