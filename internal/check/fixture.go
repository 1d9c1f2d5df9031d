// Package check runs fixtures against a policy and reports findings. It uses the same method table
// and the same Decide as the proxy, so the proxy gives the same answers.
//
// Findings are written in the formats of CI systems: SARIF 2.1.0, GitHub's
// workflow annotations and JUnit XML. A finding may contain an attacker's text. The writers escape
// such text, so that it cannot end a line, an element or a command early.
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
	"strings"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/policy"
)

// Fixture is one recorded request with the policy's expected answer. The file
// holds one JSON object with the members method, params, and optionally server,
// cwd, os, elsewhere, annotations, session, expected, at and the members about
// replies (docs/policy.md, "Fixtures").
type Fixture struct {
	Path     string
	Server   string // "" when the file names no server
	Method   string
	Params   []byte         // compact JSON; nil when absent
	Expected *policy.Action // nil when the file expects no answer
	expected *string        // the word for Expected, as in the file

	policy.Facts // the facts in the file (factMembers)

	// Result is the reply to the request. Listed is one entry of the reply to a list request.
	// Upload is the reply as it goes to a model; with policy.WordsMethod, it holds words of the
	// user instead. Finds holds the kinds of findings in the judged message. Each field is nil when
	// the file lacks it. If Finds is nil, the detectors look for findings.
	Result, Listed, Upload []byte
	Finds                  []string
	// ExpectedResult is the message that the client or the model must receive, as JSON: an object,
	// or a string with the exact bytes. It is nil when the file lacks it.
	ExpectedResult []byte
}

// maxFixture bounds a fixture file, in bytes. The proxy accepts larger messages, but people can
// write the same test with a smaller one.
const maxFixture = 8 << 20

// ReadFixture reads one file. The error contains the file name and the problem.
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

// WithoutPath removes the path from an error of package os. The caller's own message names the path.
func WithoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// ParseFixture parses a fixture strictly. An unknown or repeated member is an
// error, because a misread test proves nothing.
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
			err = fmt.Errorf("member %q is there twice", name)
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

// otherMembers are the members of a fixture that are not facts.
var otherMembers = []string{"method", "params", "server", "result", "list", "upload", "finds", "expected", "expected_result"}

func (fx *Fixture) setMember(name string, value gjson.Result) error {
	for i := range factMembers {
		if factMembers[i].name == name {
			return factMembers[i].read(&fx.Facts, value)
		}
	}
	switch name {
	case "params":
		if !value.IsObject() {
			return errors.New(`"params" is not an object`)
		}
		fx.Params = []byte(value.Raw)
		return nil
	case "expected_result":
		if !value.IsObject() && value.Type != gjson.String {
			return errors.New(`"expected_result" is neither an object nor a text of its bytes`)
		}
		fx.ExpectedResult = []byte(value.Raw)
		return nil
	case "result", "list", "upload", "finds":
		return fx.setReplyMember(name, value)
	}
	if !slices.Contains(otherMembers, name) {
		names := slices.Clone(otherMembers)
		for i := range factMembers {
			names = append(names, factMembers[i].name)
		}
		return fmt.Errorf("unknown member %q (a fixture has %s)", name, strings.Join(names, ", "))
	}
	if value.Type != gjson.String {
		return fmt.Errorf("%q is not a string", name)
	}
	switch word := value.String(); name {
	case "method":
		fx.Method = word
	case "server":
		fx.Server = word
	default:
		fx.expected = &word // the valid values depend on other members
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
