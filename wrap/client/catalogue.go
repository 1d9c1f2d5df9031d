package client

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed catalogue.toml
var builtIn []byte

// An Uncoverable is a source of servers. No edit of a file can put these servers behind clawai.
type Uncoverable struct {
	ID      string `toml:"id"`
	Client  string `toml:"client"`
	Name    string `toml:"name"`    // description for people
	Paths   Paths  `toml:"paths"`   // the client is on this machine if one of the paths exists; empty if no path can show this
	Why     string `toml:"why"`     // why no edit of a file can help
	Instead string `toml:"instead"` // what a person can do instead; "" for nothing
	Source  string `toml:"source"`
}

// FindPaths returns those paths of u that exist on this machine.
func (u Uncoverable) FindPaths(e Env) []string { return Row{Paths: u.Paths}.FindFiles(e) }

// A table is the content of a catalogue file. The file is the built-in one or a user's
// clients.toml. A user's file has only [[file]] tables.
type table struct {
	File        []Row         `toml:"file"`
	Uncoverable []Uncoverable `toml:"uncoverable"`
	Hook        []HookRow     `toml:"hook"`
	Model       []ModelRow    `toml:"model"`
}

// LoadCatalogue returns the built-in rows, and then the rows of the users. Each element of userRows
// is the text of a clients.toml. If a text has mistakes, the error has a line for each mistake in
// the first such text.
func LoadCatalogue(userRows ...[]byte) ([]Row, error) {
	t, err := loadBuiltIn()
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(t.File)
	if err := checkRows(rows, nil); err != nil {
		return nil, fmt.Errorf("built-in catalogue: %w", err)
	}
	for _, src := range userRows {
		user, err := loadTable(src)
		if err != nil {
			return nil, err
		}
		if len(user.Uncoverable)+len(user.Hook)+len(user.Model) > 0 {
			return nil, errors.New("[[uncoverable]], [[hook]] and [[model]] are the built-in catalogue's; write [[file]] only")
		}
		for i := range user.File {
			if user.File[i].Confidence == "" {
				user.File[i].Confidence = Experimental
			}
		}
		if err := checkRows(user.File, rows); err != nil {
			return nil, err
		}
		rows = append(rows, user.File...)
	}
	return rows, nil
}

// LoadUncoverables returns the entries of the catalogue for servers that no edit can put behind
// clawai.
func LoadUncoverables() ([]Uncoverable, error) {
	t, err := loadBuiltIn()
	return slices.Clone(t.Uncoverable), err
}

// HookRows returns the rows about clients' hooks in the catalogue.
func HookRows() ([]HookRow, error) {
	t, err := loadBuiltIn()
	return slices.Clone(t.Hook), err
}

// ModelRows returns the rows about the addresses of models in the catalogue.
func ModelRows() ([]ModelRow, error) {
	t, err := loadBuiltIn()
	return slices.Clone(t.Model), err
}

var loadBuiltIn = sync.OnceValues(func() (table, error) {
	t, err := loadTable(builtIn)
	if err != nil {
		return table{}, fmt.Errorf("built-in catalogue: %w", err)
	}
	return t, nil
})

// loadTable parses a catalogue and sets the defaults.
func loadTable(src []byte) (table, error) {
	var t table
	d := toml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))))
	if err := d.DisallowUnknownFields().Decode(&t); err != nil {
		return table{}, locateErrors(err)
	}
	for i := range t.File {
		row := &t.File[i]
		if row.Container == "" {
			row.Container = Map
		}
		if row.CommandForm == "" {
			row.CommandForm = StringCommand
		}
	}
	for i := range t.Model {
		row := &t.Model[i]
		for _, h := range t.Hook {
			if h.Client == row.Client {
				row.Name, row.Word, row.Present, row.Used = h.Name, h.HookWord(), h.Present, h.Used
			}
		}
	}
	return t, nil
}

// locateErrors returns the errors of the TOML decoder, one per line, with the line and column of
// each.
func locateErrors(err error) error {
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		var all []error
		for _, e := range unknown.Errors {
			line, column := e.Position()
			key := e.Key()
			all = append(all, fmt.Errorf("line %d, column %d: unknown key %q", line, column, key[len(key)-1]))
		}
		return errors.Join(all...)
	}
	if decode, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := decode.Position()
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return err
}

// checkRows returns the errors in the new rows, and the conflicts between the new rows and the
// known rows.
func checkRows(rows, known []Row) error {
	var all []error
	for i, row := range rows {
		label := fmt.Sprintf("[[file]] %d (id %q)", i+1, row.ID)
		if slices.ContainsFunc(known, func(k Row) bool { return k.ID == row.ID }) {
			all = append(all, fmt.Errorf("%s: id %q is a built-in row's; choose another", label, row.ID))
		}
		if slices.ContainsFunc(rows[:i], func(k Row) bool { return k.ID == row.ID }) {
			all = append(all, fmt.Errorf("%s: id %q is used twice", label, row.ID))
		}
		for _, err := range row.checkRow() {
			all = append(all, fmt.Errorf("%s: %w", label, err))
		}
		for _, other := range slices.Concat(known, rows[:i]) {
			if path := findCollision(row, other); path != "" {
				all = append(all, fmt.Errorf("%s: path %q with this key_path is row %q already", label, path, other.ID))
			}
		}
	}
	return errors.Join(all...)
}

// findCollision returns a path that both rows read with the same keys on some system; "" if there
// is none. clawai would list the servers of this file twice.
func findCollision(a, b Row) string {
	if a.ID == b.ID || !slices.Equal(a.KeyPath, b.KeyPath) {
		return ""
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, path := range a.Paths.systemPaths(system) {
			if slices.Contains(b.Paths.systemPaths(system), path) {
				return path
			}
		}
	}
	return ""
}
