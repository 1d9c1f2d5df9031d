package wrapcmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// vaultMoves moves secrets between the clients' files and the vault. A secret goes into the vault
// before the client's file is written. It leaves the vault after the file is written.
type vaultMoves struct {
	run   *wrapRun
	store vault.Store
	moves []vaultMove
}

// vaultMove is the move of one secret.
type vaultMove struct {
	entry   string
	value   []byte
	origin  vault.Origin
	server  vault.Requester
	label   string // name of the variable or header, for a person
	bound   bool   // this move has bound the entry to the server, so its undo may remove the binding
	written bool   // the vault already has the secret and its origin
}

// movedSecret is one moved secret in the output of --json.
type movedSecret struct {
	Server string `json:"server"`
	Name   string `json:"name"` // name of the variable or header
	Path   string `json:"path"`
	Entry  string `json:"entry"` // name of the entry in the vault
}

func (m *vaultMoves) openVault() (err error) {
	if m.store == nil {
		m.store, err = vaultplace.Open()
	}
	return err
}

// TakeSecret decides whether to move a secret into the vault, and chooses the name of the entry.
// text is the reference that the caller writes into the client's file instead of the secret.
func (m *vaultMoves) TakeSecret(t wrap.Target, s client.Secret) (text string, take bool, err error) {
	words := []string{t.Entry.URL}
	if t.Entry.URL == "" {
		words = append([]string{t.Entry.Command}, t.Entry.Args...)
	}
	if strings.Contains(strings.Join(words, "\x00"), "${") {
		fmt.Fprintf(m.run.prose, "%s of %s stays in %s: its client fills in what starts the server, so that the vault cannot be told whom it is for.\n", term.VisibleLine(s.Name), term.VisibleLine(t.Entry.Name), m.run.ShortPath(t.File.Path))
		return "", false, nil
	}
	server := vault.Requester{Name: t.Entry.Name, Command: vaultplace.BoundCommand(words), Dir: m.run.folderOf(t), Own: os.Environ()}
	if server.Dir == "" && server.ReadsFolder() {
		fmt.Fprintf(m.run.prose, "%s of %s stays in %s: what starts the server depends on the folder in which its client starts it, so that the vault cannot be told whom it is for. Write whole paths there, and run the command again.\n", term.VisibleLine(s.Name), term.VisibleLine(t.Entry.Name), m.run.ShortPath(t.File.Path))
		return "", false, nil
	}
	if i := slices.IndexFunc(t.Entry.Env, func(v client.Variable) bool { return vault.LoadsCode(v.Name, v.Value, server.Own) }); i >= 0 {
		fmt.Fprintf(m.run.prose, "%s of %s stays in %s: its environment sets %s, which can have the server run other code, and beside it the vault gives no value. Take it out, or set it by the command: env %[4]s=VALUE COMMAND.\n", term.VisibleLine(s.Name), term.VisibleLine(t.Entry.Name), m.run.ShortPath(t.File.Path), term.VisibleLine(t.Entry.Env[i].Name))
		return "", false, nil
	}
	if err := m.openVault(); err != nil {
		return "", false, err
	}
	move := vaultMove{
		value: []byte(s.Value), label: s.Name, server: server,
		origin: vault.Origin{File: t.File.Real, Server: t.Entry.KeyPath, Member: s.Member, Token: []byte(s.Token)},
	}
	if err := vault.CheckValue(move.value); err != nil {
		return "", false, fmt.Errorf("%s: %w", s.Name, err)
	}
	if move.entry, err = m.findEntryName(t.Entry.Name+"."+s.Name, move.value); err != nil {
		return "", false, err
	}
	if m.run.terminal && !m.run.dryRun {
		answer, err := m.run.askLine(fmt.Sprintf("Move %s of %s in %s into the vault, as %s? [Y/n] ", term.VisibleLine(s.Name), term.VisibleLine(t.Entry.Name), m.run.ShortPath(t.File.Path), move.entry))
		if err != nil || strings.HasPrefix(strings.ToLower(answer), "n") {
			return "", false, nil //nolint:nilerr // without an answer, the secret stays
		}
	}
	m.moves = append(m.moves, move)
	return s.Before + vault.MakeReference(move.entry), true, nil
}

// folderOf returns the folder in which a client starts a server: the project's folder. For a server
// of all projects it returns "".
func (r *wrapRun) folderOf(t wrap.Target) string {
	switch t.File.Row.Scope {
	case client.Project, client.Workspace:
		return r.env.Dir
	case client.Local: // the key path is projects.FOLDER.mcpServers.NAME
		if i := slices.IndexFunc(t.Entry.KeyPath, filepath.IsAbs); i >= 0 {
			return t.Entry.KeyPath[i]
		}
	case client.User, client.Profile, client.Plugin, client.Managed:
	}
	return ""
}

// findEntryName returns the name of the entry for a value: an entry that already has this value, or
// a new name.
func (m *vaultMoves) findEntryName(wanted string, value []byte) (string, error) {
	clean := strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x80 && vault.CheckName("a"+string(r)) == nil {
			return r
		}
		return '-'
	}, wanted), "-._")
	clean = clean[:min(len(clean), 56)]
	if clean == "" {
		clean = "secret"
	}
next:
	for n := 1; ; n++ {
		name := clean
		if n > 1 {
			name = fmt.Sprintf("%s-%d", clean, n)
		}
		for i := range m.moves {
			if m.moves[i].entry == name {
				if bytes.Equal(m.moves[i].value, value) {
					return name, nil
				}
				continue next
			}
		}
		e, err := m.store.Get(name)
		if errors.Is(err, vault.ErrNone) || err == nil && bytes.Equal(e.Value, value) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// ReturnToken returns the text that replaces wrap's reference in the client's file. It is the text
// from before wrap. If the value in the vault has changed since then, it is the new value in
// quotes.
func (m *vaultMoves) ReturnToken(t wrap.Target, s client.Secret) (token string, give bool, err error) {
	if vault.CheckName(s.Value) != nil {
		return "", false, nil
	}
	if err := m.openVault(); err != nil {
		return "", false, err
	}
	e, err := m.store.Get(s.Value)
	if errors.Is(err, vault.ErrNone) {
		fmt.Fprintf(m.run.prose, "%s of %s stays %s, and the vault has no such entry: write the value there by hand.\n", term.VisibleLine(s.Name), term.VisibleLine(t.Entry.Name), vault.MakeReference(s.Value))
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", s.Name, err)
	}
	o, ok := e.FindOrigin(t.File.Real, t.Entry.KeyPath, s.Member)
	if !ok {
		fmt.Fprintf(m.run.prose, "%s of %s stays %s, which was written by hand and which only clawai fills in.\n", term.VisibleLine(s.Name), term.VisibleLine(t.Entry.Name), vault.MakeReference(s.Value))
		return "", false, nil
	}
	m.moves = append(m.moves, vaultMove{entry: s.Value, origin: o, label: s.Name, server: vault.Requester{Name: t.Entry.Name}})
	whole := s.Before + string(e.Value)
	if was, ok := client.DecodeToken(t.File.Row, string(o.Token)); ok && was == whole {
		return string(o.Token), true, nil
	}
	return client.Quote(whole), true, nil // the value has changed since wrap
}

// filterMoves removes the moves of servers that will not be edited.
func (m *vaultMoves) filterMoves(changes []wrap.Change) {
	m.moves = slices.DeleteFunc(m.moves, func(v vaultMove) bool {
		return !slices.ContainsFunc(changes, func(c wrap.Change) bool {
			return c.Real == v.origin.File && slices.ContainsFunc(c.Edits, func(e wrap.Edit) bool { return slices.Equal(e.Entry.KeyPath, v.origin.Server) })
		})
	})
}

// keepSecrets writes the secrets of all moves into the vault. After an error it removes these
// secrets again.
func (m *vaultMoves) keepSecrets() error {
	if m.run.op != wrap.Wrap {
		return nil
	}
	for i := range m.moves {
		if err := m.moves[i].putSecret(m.store); err != nil {
			return errors.Join(fmt.Errorf("nothing was written, as the vault cannot keep %s: %w", m.moves[i].entry, err), m.takeBack(func(*vaultMove) bool { return true }))
		}
	}
	return nil
}

func (v *vaultMove) putSecret(store vault.Store) error {
	err := store.Change(v.entry, func(e *vault.Entry) error {
		if len(e.Value) == 0 {
			e.Value, e.Set, e.Moved = v.value, time.Now(), true
		} else if !bytes.Equal(e.Value, v.value) {
			return errors.New("somebody has set it meanwhile; run the command again")
		}
		v.bound = e.BindServer(v.server)
		e.AddOrigin(v.origin)
		return nil
	})
	v.written = err == nil
	return err
}

// takeBack undoes the moves m into the vault for which lost(m) is true.
func (m *vaultMoves) takeBack(lost func(*vaultMove) bool) (err error) {
	for i := len(m.moves) - 1; i >= 0; i-- {
		v := &m.moves[i]
		if !v.written || !lost(v) {
			continue
		}
		v.written = false
		err = errors.Join(err, v.removeOrigin(m.store))
	}
	return err
}

// removeOrigin removes the place of a secret from its entry. If the entry has no other place, it
// deletes the entry.
func (v *vaultMove) removeOrigin(store vault.Store) error {
	gone := false
	err := store.Change(v.entry, func(e *vault.Entry) error {
		if gone = e.RemoveOrigin(v.origin); v.bound && len(e.Origins) == 0 {
			e.Bindings = e.Bindings[:len(e.Bindings)-1]
		}
		return nil
	})
	if err == nil && gone {
		err = store.Delete(v.entry)
	}
	return err
}

// hasStayed reports whether the client's file still has the secret itself and no reference to the
// vault. The vault's copy can be removed only in this case. An edit that failed may have changed
// the file all the same, so the failure alone does not show this.
func (v *vaultMove) hasStayed() bool {
	now, err := os.ReadFile(v.origin.File)
	return err == nil && bytes.Contains(now, v.origin.Token) && !bytes.Contains(now, []byte(vault.MakeReference(v.entry)))
}

// finishMoves completes the moves after the clients' files are written. For wrap, it removes a
// secret from the vault if the file could not be written and still has the secret. For unwrap, it
// removes the secrets of all written files from the vault.
func (m *vaultMoves) finishMoves(changes []wrap.Change, failed []error) error {
	written := map[string]bool{}
	for i := range changes {
		written[changes[i].Real] = failed[i] == nil
	}
	if m.run.op == wrap.Wrap {
		return m.takeBack(func(v *vaultMove) bool { return !written[v.origin.File] && v.hasStayed() })
	}
	var err error
	for i := range m.moves {
		v := &m.moves[i]
		if !written[v.origin.File] {
			continue
		}
		err = errors.Join(err, v.removeOrigin(m.store))
	}
	return err
}

// tellMoves prints the moves. If several files had the same secret, it prints the secret once.
func (m *vaultMoves) tellMoves() {
	var lines []string
	for i := range m.moves {
		v := &m.moves[i]
		text := "%s of %s goes into the vault, as %s.\n"
		if m.run.op == wrap.Unwrap {
			text = "%s of %s comes back from the vault, where it is %s.\n"
		}
		lines = append(lines, fmt.Sprintf(text, term.VisibleLine(v.label), term.VisibleLine(v.server.Name), v.entry))
	}
	fmt.Fprint(m.run.prose, strings.Join(dropRepeats(lines), ""))
}

func (m *vaultMoves) listSecrets() (all []movedSecret) {
	for i := range m.moves {
		v := &m.moves[i]
		all = append(all, movedSecret{v.server.Name, v.label, v.origin.File, v.entry})
	}
	return all
}
