// Package check runs fixtures against a policy and reports findings. It uses the method table and
// the Decide of the proxy, so the answers are those of the proxy.
//
// Findings are written in the formats of CI systems: SARIF 2.1.0, GitHub's workflow annotations and
// JUnit XML. A finding may contain text from an attacker. The writers escape such text, so that it
// cannot end a line, an element or a command.
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

// Fixture is one request with the answer that the policy should give. Its file has one JSON object
// with the members method, params, and optionally server, cwd, os, elsewhere, annotations, session,
// expected, at and the members about replies (docs/policy.md, "Fixtures").
type Fixture struct {
	Path     string
	Server   string // "" if the file has no server
	Method   string
	Params   []byte         // compact JSON; nil if the file has no params
	Expected *policy.Action // nil if the file expects no answer
	expected *string        // the word for Expected in the file

	policy.Facts // facts about the call, from the file (factMembers)

	// Result is the reply to the request. Listed is one entry of the reply to a list request.
	// Upload is the reply as it is sent to a model; for policy.WordsMethod, Upload is a text of
	// the user. Finds holds the kinds of findings in the judged message. A field is nil if the
	// file does not have it. If Finds is nil, the detectors are run.
	Result, Listed, Upload []byte
	Finds                  []string
	// ExpectedResult is the message for the client or the model, as JSON: an object, or a string
	// with exactly these bytes. It is nil if the file does not have it.
	ExpectedResult []byte
}

// maxFixture is the maximum size of a fixture file in bytes. The proxy accepts larger messages, but
// a test can use a smaller one.
const maxFixture = 8 << 20

// ReadFixture reads a fixture file. An error has the name of the file and the problem.
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

// WithoutPath removes the path from an error of package os, because the message of the caller
// already has it.
func WithoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// ParseFixture parses a fixture. An unknown or repeated member is an error, because a test that was
// misread proves nothing.
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
		fx.expected = &word // keep the word, because the valid words depend on other members
	}
	return nil
}

// FindFixtures lists the .json files in dir and below it, in alphabetical order.
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
