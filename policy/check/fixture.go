// Package check is what people do to a policy besides enforcing it: run
// fixtures against it and report. It judges through the same method table and
// the same Decide as the proxy, so that a green run means what it says.
package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
	"github.com/tidwall/gjson"
)

// Fixture is one recorded request and what the policy should say of it. The
// file holds one JSON object with the members method, params, and optionally
// server, expected and at (docs/policy.md, "Fixtures").
type Fixture struct {
	Path     string
	Server   string // "" when the file names none
	Method   string
	Params   []byte // compact JSON; nil when absent
	Expected *policy.Action
	At       time.Time // of the call, for rules with a when; zero when the file does not say
}

// maxFixture bounds a fixture file. A frame may be larger, but a test that
// people read is not.
const maxFixture = 8 << 20

// ReadFixture reads one file. The error names the file and what is wrong.
func ReadFixture(path string) (Fixture, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Fixture{}, fmt.Errorf("fixture %s: %w", policy.FileName(path), unwrapPath(err))
	}
	if !info.Mode().IsRegular() {
		return Fixture{}, fmt.Errorf("fixture %s: not a regular file", policy.FileName(path))
	}
	if info.Size() > maxFixture {
		return Fixture{}, fmt.Errorf("fixture %s: larger than %d MiB", policy.FileName(path), maxFixture>>20)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return Fixture{}, fmt.Errorf("fixture %s: %w", policy.FileName(path), unwrapPath(err))
	}
	fx, err := ParseFixture(src)
	if err != nil {
		return Fixture{}, fmt.Errorf("fixture %s: %w", policy.FileName(path), err)
	}
	fx.Path = path
	return fx, nil
}

// unwrapPath drops the path that os puts into its errors; ours names it once.
func unwrapPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// ParseFixture reads a fixture strictly: a member it does not know or that
// stands twice is an error, because a test that is misread proves nothing.
func ParseFixture(src []byte) (Fixture, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, src); err != nil {
		return Fixture{}, fmt.Errorf("not JSON: %w", err)
	}
	root := gjson.ParseBytes(compact.Bytes())
	if !root.IsObject() {
		return Fixture{}, errors.New("not a JSON object with method and params")
	}
	var fx Fixture
	var seen []string
	var err error
	root.ForEach(func(key, value gjson.Result) bool {
		name := key.String()
		if slices.Contains(seen, name) {
			err = fmt.Errorf("member %q stands twice", name)
			return false
		}
		seen = append(seen, name)
		err = fx.set(name, value)
		return err == nil
	})
	switch {
	case err != nil:
		return Fixture{}, err
	case fx.Method == "":
		return Fixture{}, errors.New(`"method" is missing; it names the request, for example "tools/call"`)
	}
	return fx, nil
}

func (fx *Fixture) set(name string, value gjson.Result) error {
	switch name {
	case "params":
		if !value.IsObject() {
			return errors.New(`"params" is not an object`)
		}
		fx.Params = []byte(value.Raw)
		return nil
	case "method", "server", "expected", "at":
		if value.Type != gjson.String {
			return fmt.Errorf("%q is not a string", name)
		}
	default:
		return fmt.Errorf("unknown member %q (a fixture has method, params, server, expected, at)", name)
	}
	switch name {
	case "method":
		fx.Method = value.String()
	case "server":
		fx.Server = value.String()
	case "expected":
		action, err := policy.ParseAction(value.String())
		if err != nil {
			return fmt.Errorf(`"expected": %w`, err)
		}
		fx.Expected = &action
	case "at":
		at, err := time.Parse(time.RFC3339, value.String())
		if err != nil {
			return errors.New(`"at" is no date and time with its offset, such as 2026-01-31T09:00:00+01:00`)
		}
		fx.At = at
	}
	return nil
}

// FindFixtures lists the .json files below dir, in lexical order.
func FindFixtures(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("fixture directory %s: %w", policy.FileName(path), unwrapPath(err))
		}
		if !entry.IsDir() && filepath.Ext(path) == ".json" {
			found = append(found, path)
		}
		return nil
	})
	return found, err
}
