package vault

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Prefix is the beginning of a reference. No client takes it for a variable to expand.
const Prefix = "clawai-vault:"

// MakeReference returns the reference to an entry.
func MakeReference(name string) string { return Prefix + name }

// InHeader splits a header value, or a line that contains a header value. The result before is the
// literal text before the reference, and name is the name of the entry. A reference must be at the
// end.
func InHeader(text string) (before, name string, ok bool) {
	before, name, ok = strings.Cut(text, Prefix)
	return before, name, ok && CheckName(name) == nil
}

// HasReference reports whether a text contains a reference, even an invalid one.
func HasReference(text string) bool { return strings.Contains(text, Prefix) }

// Requester is the server that needs values.
type Requester struct {
	Name    string   // the server's name in rules; "" if the server has no such name
	Command []string // the words of the server's command, or its address as the only word
	Dir     string   // the folder in which the command is started; "" if it is not known
	Own     []string // the owner's environment, when the owner binds an entry to the server
}

// ReadsFolder reports whether the command may mean something else in another folder.
func (r Requester) ReadsFolder() bool { return readsFolder(r.Command, realFolder(r.Dir)) }

// Refusal is the reason why a server does not get an entry.
type Refusal struct {
	Entry string
	Err   error
	// Bind means that the entry is not bound to this server, and that the owner can bind it.
	Bind bool
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s%s: %v", Prefix, r.Entry, r.Err) }

func (r *Refusal) Unwrap() error { return r.Err }

// Resolver resolves the references for one server, and remembers the values.
type Resolver struct {
	Open   func() (Store, error) // called at the first reference
	Server Requester
	Now    time.Time // the current time, for the expiry of entries

	store Store             // nil before the first reference
	used  map[string]*Entry // the entries whose values the server got, by name
}

// UsedValues returns the values of the entries that the server got.
func (r *Resolver) UsedValues() [][]byte {
	var values [][]byte
	for _, e := range r.used {
		values = append(values, e.Value)
	}
	slices.SortFunc(values, slices.Compare)
	return slices.CompactFunc(values, slices.Equal)
}

// FillEnv returns an environment with values in place of the references. It does not change
// environ. If environ has no references, FillEnv returns environ itself.
func (r *Resolver) FillEnv(environ []string) ([]string, error) {
	var filled []string
	for i, v := range environ {
		name, text, _ := strings.Cut(v, "=")
		if !HasReference(text) {
			continue
		}
		entry, whole := strings.CutPrefix(text, Prefix)
		if !whole || CheckName(entry) != nil {
			return nil, fmt.Errorf("%s: a reference is the whole value of a variable: %s=%sNAME", name, name, Prefix)
		}
		e, err := r.resolveEntry(entry)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := checkVariables(environ, r.Server.Command, e.ownVariables(r.Server)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, &Refusal{Entry: entry, Err: err})
		}
		if filled == nil {
			filled = slices.Clone(environ)
		}
		filled[i] = name + "=" + string(e.Value)
	}
	if filled == nil {
		return environ, nil
	}
	return filled, nil
}

// FillHeader replaces the references in header values. It changes h itself.
func (r *Resolver) FillHeader(h http.Header) error {
	for key, values := range h {
		for i, text := range values {
			if !HasReference(text) {
				continue
			}
			before, entry, ok := InHeader(text)
			if !ok {
				return fmt.Errorf("header %s: a reference ends the value: %s: Bearer %sNAME", key, key, Prefix)
			}
			e, err := r.resolveEntry(entry)
			if err == nil && strings.ContainsFunc(string(e.Value), func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				err = &Refusal{Entry: entry, Err: errors.New("its value has more than one line, or a control character, and no header holds that")}
			}
			if err != nil {
				return fmt.Errorf("header %s: %w", key, err)
			}
			values[i] = before + string(e.Value)
		}
	}
	return nil
}

func (r *Resolver) resolveEntry(name string) (e *Entry, err error) {
	if e, ok := r.used[name]; ok {
		return e, nil
	}
	if e, err = r.loadEntry(name); err != nil {
		if _, told := errors.AsType[*Refusal](err); !told {
			err = &Refusal{Entry: name, Err: err}
		}
		return nil, err
	}
	if r.used == nil {
		r.used = map[string]*Entry{}
	}
	r.used[name] = e
	return e, nil
}

func (r *Resolver) loadEntry(name string) (*Entry, error) {
	if r.Server.Name == "" {
		return nil, errors.New("an entry is given to a server by its name; start it with: clawai proxy --server NAME")
	}
	if r.store == nil {
		var err error
		if r.store, err = r.Open(); err != nil {
			return nil, err
		}
	}
	e, err := r.store.Get(name)
	if errors.Is(err, ErrNone) {
		return nil, fmt.Errorf("%w; set it: clawai vault set %s", err, name)
	}
	if err != nil {
		return nil, err
	}
	switch bound, knows, command := e.isBound(r.Server); {
	case !bound && command:
		return nil, &Refusal{name, fmt.Errorf("it is for the server %q as this command starts it in another folder, and here it may start something else", r.Server.Name), true}
	case !bound && knows:
		return nil, &Refusal{name, fmt.Errorf("it is for the server %q as another command starts it", r.Server.Name), true}
	case !bound:
		return nil, &Refusal{name, fmt.Errorf("it is not for the server %q", r.Server.Name), true}
	}
	if at, expired := e.ExpiryTime(r.Now); expired {
		return nil, fmt.Errorf("it is too old to be used since %s; set a new value: clawai vault set %s", at.Format(time.DateOnly), name)
	}
	return &e, nil
}
