// Package check is what people do to a policy besides enforcing it: run
// fixtures against it and report. It judges through the same method table and
// the same Decide as the proxy, so that a green run means what it says.
//
// What checks find is written in the forms that CI systems read: SARIF 2.1.0, GitHub's
// workflow annotations and JUnit XML. It may hold an attacker's text: no form lets it
// end a line, an element or a command early.
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

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
)

// Fixture is one recorded request and what the policy should say of it. The
// file holds one JSON object with the members method, params, and optionally
// server, cwd, os, elsewhere, annotations, session, expected, at and those about what came back (docs/policy.md, "Fixtures").
type Fixture struct {
	Path      string
	Server    string // "" when the file names none
	Cwd       string // at which relative paths start; "" when the file does not say
	OS        string // that the server is known to run on; "" when the file does not say
	Method    string
	Params    []byte // compact JSON; nil when absent
	Expected  *policy.Action
	expected  *string
	Elsewhere bool // relative paths may start elsewhere, too
	// Assurances are what its server says to the good of the tool; the file has the
	// annotations as tools/list does.
	Assurances policy.Assurances
	// Result is what came back to the request, and Listed the entries of a list of it; Finds
	// are the kinds that are found in what is judged, of a request without a result in its
	// arguments. Without Finds the detectors look. Nil where the file does not say.
	Result, Listed []byte
	Finds          []string
	// ExpectedResult is what the client is to get of a result or a list's entry, as JSON: an
	// object, or a string with its very bytes.
	ExpectedResult []byte
	Seen           policy.Seen // by the session before the call: labels, as rules name them; zero when the file does not say
	At             time.Time   // of the call, for rules with a when; zero when the file does not say
}

// maxFixture bounds a fixture file. A frame may be larger, but a test that
// people read is not.
const maxFixture = 8 << 20

// ReadFixture reads one file. The error names the file and what is wrong.
func ReadFixture(path string) (Fixture, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Fixture{}, fmt.Errorf("fixture %s: %w", policy.FileName(path), WithoutPath(err))
	}
	if !info.Mode().IsRegular() {
		return Fixture{}, fmt.Errorf("fixture %s: not a regular file", policy.FileName(path))
	}
	if info.Size() > maxFixture {
		return Fixture{}, fmt.Errorf("fixture %s: larger than %d MiB", policy.FileName(path), maxFixture>>20)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return Fixture{}, fmt.Errorf("fixture %s: %w", policy.FileName(path), WithoutPath(err))
	}
	fx, err := ParseFixture(src)
	if err != nil {
		return Fixture{}, fmt.Errorf("fixture %s: %w", policy.FileName(path), err)
	}
	fx.Path = path
	return fx, nil
}

// WithoutPath drops the path that os puts into its errors; ours name it once.
func WithoutPath(err error) error {
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
		err = fx.setMember(name, value)
		return err == nil
	})
	if err == nil {
		err = fx.parseExpected()
	}
	if err == nil {
		err = fx.checkReceived()
	}
	switch {
	case err != nil:
		return Fixture{}, err
	case fx.Method == "":
		return Fixture{}, errors.New(`"method" is missing; it names the request, for example "tools/call"`)
	}
	return fx, nil
}

// parseSession reads the labels of the session before the call.
func (fx *Fixture) parseSession(value gjson.Result) error {
	var words []string
	whole := value.IsArray()
	for _, v := range value.Array() {
		whole = whole && v.Type == gjson.String
		words = append(words, v.String())
	}
	if whole {
		fx.Seen, whole = policy.SeenOf(words)
	}
	if !whole {
		return fmt.Errorf(`"session" is no list of labels; write some of %q, or [] for a session that has seen none`, policy.SeenWords())
	}
	return nil
}

func (fx *Fixture) setMember(name string, value gjson.Result) error {
	switch name {
	case "params":
		if !value.IsObject() {
			return errors.New(`"params" is not an object`)
		}
		fx.Params = []byte(value.Raw)
		return nil
	case "annotations":
		if !value.IsObject() {
			return errors.New(`"annotations" is not an object`)
		}
		var unread string
		if fx.Assurances, unread = mcp.ReadAssurances([]byte(value.Raw)); unread != "" {
			return fmt.Errorf(`"annotations": %q is no hint that is true or false (readOnlyHint, destructiveHint, idempotentHint, openWorldHint)`, unread)
		}
		return nil
	case "session":
		return fx.parseSession(value)
	case "elsewhere":
		if fx.Elsewhere = value.Type == gjson.True; !fx.Elsewhere {
			return errors.New(`"elsewhere" can be true, or left out`)
		}
		return nil
	case "expected_result":
		if !value.IsObject() && value.Type != gjson.String {
			return errors.New(`"expected_result" is neither an object nor a text of its bytes`)
		}
		fx.ExpectedResult = []byte(value.Raw)
		return nil
	case "result", "list", "finds":
		return fx.cameBack(name, value)
	case "method", "server", "cwd", "os", "expected", "at":
		if value.Type != gjson.String {
			return fmt.Errorf("%q is not a string", name)
		}
	default:
		return fmt.Errorf("unknown member %q (a fixture has method, params, server, cwd, os, elsewhere, annotations, session, result, list, finds, expected, expected_result, at)", name)
	}
	switch name {
	case "method":
		fx.Method = value.String()
	case "server":
		fx.Server = value.String()
	case "cwd":
		if fx.Cwd = value.String(); !policy.IsFolder(fx.Cwd) {
			return errors.New(`"cwd" is no folder: write an absolute path, or one below ~/`)
		}
	case "os":
		if fx.OS = value.String(); !policy.IsOS(fx.OS) {
			return errors.New(`"os" is "windows", "linux" or "darwin"`)
		}
	case "expected":
		word := value.String()
		fx.expected = &word // what it can be depends on other members
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
			return fmt.Errorf("fixture directory %s: %w", policy.FileName(path), WithoutPath(err))
		}
		if !entry.IsDir() && filepath.Ext(path) == ".json" {
			found = append(found, path)
		}
		return nil
	})
	return found, err
}
