package client

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
)

// ModelRow describes from where a client gets the address of its model's service. "clawai wrap
// --llm" edits the file in the row. "clawai llm-proxy -- CLIENT" sets the variable or the option in
// the row.
type ModelRow struct {
	Client   string   `toml:"client"`   // the client's word for the options --llm and --client
	Programs []string `toml:"programs"` // names of the client's program

	Variable  string   `toml:"variable"`  // environment variable with the address; "" if there is none
	Upstream  string   `toml:"upstream"`  // address that the client uses without a setting; "" if the owner must set one
	Elsewhere []string `toml:"elsewhere"` // variables with which the client uses a service that has no address in the file

	// Paths are the possible places of the file; HookRow.Paths tells which one is used. If there
	// are none, wrap edits no file, and Instead tells what the owner can do.
	Paths  Paths  `toml:"paths"`
	Format Format `toml:"format"` // a format of the JSON family, "toml", or "env"
	// KeyPath is the path of keys to the address. "*" stands for every key. An address at a path
	// with "*" must already be in the file.
	KeyPath []string `toml:"key_path"`
	// Chooser is the key in the file with the name of a provider other than Preset. If it is set,
	// ChosenPath is the path to the address, with the name in place of <chosen>.
	Chooser    string   `toml:"chooser"`
	Preset     string   `toml:"preset"`
	ChosenPath []string `toml:"chosen_path"`
	Over       Paths    `toml:"over"` // files of a project or an organisation that override this file; a DotEnv file overrides all of it, another file only the address

	Instead string `toml:"instead"` // what the owner can do by hand if no file is edited
	After   string `toml:"after"`   // what a person must do before the edit has an effect

	Confidence Confidence `toml:"confidence"`
	Source     string     `toml:"source"`

	// Name, Word and Present come from the HookRow of the same client.
	Name    string `toml:"-"`
	Word    string `toml:"-"`
	Present Paths  `toml:"-"`
	Used    Paths  `toml:"-"`
}

// DotEnv is the format of a file with one variable on each line.
const DotEnv Format = "env"

// Editable reports whether wrap can edit a file of the client.
func (r ModelRow) Editable() bool { return len(r.Paths.allPaths()) > 0 }

// IsInstalled reports whether the client is on this machine.
func (r ModelRow) IsInstalled(e Env) bool { return len(Row{Paths: r.Present}.FindFiles(e)) > 0 }

// FindFile returns the path of the file that wrap edits. If some of the possible files exist, it is
// the first of them. Otherwise it is the first possible place, and exists is false. FindFile
// returns "" if there is no such place, for example because a variable or the home is unknown.
func (r ModelRow) FindFile(e Env) (path string, exists bool) {
	if found := (Row{Paths: r.Paths}).FindFiles(e); len(found) > 0 {
		return found[0], true
	}
	if c := e.candidatePaths(r.Paths, false); len(c) > 0 && !c[0].glob {
		return c[0].path, false
	}
	return "", false
}

// FindOver returns the files that may override the client's own file.
func (r ModelRow) FindOver(e Env) []string {
	return Row{Paths: r.Over, Ancestors: true}.FindFiles(e)
}

// ModelAddress is a place in a file with the address of a service.
type ModelAddress struct {
	Route   string // name of the client; if the file has several addresses, also the key of this one
	KeyPath []string
	Text    string // the address; "" if there is none yet
	Ours    *LedAddress
}

// LedAddress is an address that wrap has written, which leads to our proxy.
type LedAddress struct {
	Base string // the address up to the end of the route
	undo string // the last part of the address, which tells how to undo the edit
	was  string // the token before the edit, in the notation of the file; "" for none
}

// Service returns the address before the edit; "" if the file had no address, so that the client
// used its default.
func (l *LedAddress) Service(r ModelRow) string {
	if l.was == "" {
		return ""
	}
	return tokenText(r, l.was)
}

// ParseService parses the address of a service. It refuses an address to which keys would be sent
// unencrypted.
func ParseService(text string) (*url.URL, error) {
	to, err := url.Parse(text)
	shown := redact.MaskAddress(text)
	switch {
	case err != nil: // do not show err, because its text may contain a password
		return nil, fmt.Errorf("the service's address %q cannot be read; it must be https://HOST or https://HOST/PATH", shown)
	case to.Host == "" || to.Scheme != "https" && to.Scheme != "http" || to.User != nil || to.RawQuery != "" || to.Fragment != "":
		return nil, fmt.Errorf("the service's address must be https://HOST or https://HOST/PATH, not %q", shown)
	case to.Scheme == "http" && !isLoopback(to.Hostname()):
		return nil, fmt.Errorf("the service's address %q would send your key and all that you say in clear text; write https://", shown)
	}
	return to, nil
}

// LeadsToUs reports whether the address of a service leads to our own proxy: its host is this
// machine and its port is the port of listen (ADDRESS:PORT), or its path contains ledWord.
func LeadsToUs(to *url.URL, listen string) bool {
	if slices.Contains(strings.Split(to.Path, "/"), ledWord) {
		return true
	}
	port := to.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[to.Scheme]
	}
	_, own, _ := net.SplitHostPort(listen)
	return port == own && isLoopback(strings.ToLower(strings.TrimSuffix(to.Hostname(), ".")))
}

var errNoAddress = errors.New("it sets no address of a service")

// ReadAddresses returns the places in a file with the address of a service, and the places where an
// address can be added. src is nil if the file does not exist.
func ReadAddresses(r ModelRow, src []byte) ([]ModelAddress, error) {
	f, err := openModelFile(r, src)
	if err != nil {
		return nil, err
	}
	paths, err := f.listPaths()
	if err != nil {
		return nil, err
	}
	var all []ModelAddress
	for _, path := range paths {
		a := ModelAddress{Route: r.Client, KeyPath: path}
		if i := slices.Index(r.KeyPath, "*"); i >= 0 {
			if a.Route = r.Client + "." + path[i]; !PlainName(path[i]) {
				return nil, fmt.Errorf("the name %q cannot be part of an address; rename it with letters, digits, -, _ and . alone", path[i])
			}
		}
		token, err := f.findToken(path)
		if err != nil {
			return nil, err
		}
		if token != nil {
			a.Text, a.Ours = token.text, readLedAddress(token.text)
		}
		all = append(all, a)
	}
	return all, nil
}

// ledWord begins the path of our addresses, so that a person recognises them in a client's
// settings.
const ledWord = "clawai-llm-proxy"

// LedWord returns the first part of the path of our addresses.
func LedWord() string { return ledWord }

// readLedAddress reads an address that wrap has written. It returns nil for any other address.
func readLedAddress(text string) *LedAddress {
	rest, ok := strings.CutPrefix(text, "http://")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 5 || parts[1] != ledWord {
		return nil
	}
	if host, _, err := net.SplitHostPort(parts[0]); err != nil || !isLoopback(host) {
		return nil
	}
	l := &LedAddress{Base: strings.TrimSuffix(text, "/"+parts[4]), undo: parts[4]}
	if coded, is := strings.CutPrefix(parts[4], undoWas); is {
		if l.was, ok = decodeToken(coded); !ok {
			return nil
		}
		return l
	}
	if _, ok := undoDepth(parts[4]); !ok && parts[4] != undoFile {
		return nil
	}
	return l
}
