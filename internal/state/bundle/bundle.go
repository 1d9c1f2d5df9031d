// Package bundle reads, writes and signs bundles. A bundle has the rules of a team with their
// fixtures and packs, in one file that laptops take from a centre.
//
// A bundle is a manifest as a signed note (golang.org/x/mod/sumdb/note), an empty line, and the
// bytes of its files, one after the other:
//
//	clawai bundle 1
//	counter 7
//	created 2026-11-30T10:00:00Z
//	fixtures/push.json 112 SHA-256
//	policy.toml 240 SHA-256
//
//	— team.example SIGNATURE
//
//	{"method": ...
//
// A bundle contains only rules: policy.toml, the packs that policy.toml names, and
// fixtures/NAME.json. A bundle with any other file is refused, so that no part of a bundle can ever
// be started.
package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clawai/clawai/policy"
)

// The bounds of a bundle.
const (
	MaxSize     = 16 << 20  // size of the whole file, in bytes
	MaxFiles    = 2000      // number of files, with policy.toml
	MaxCounter  = 1<<53 - 1 // the largest number that every reader of JSON reads exactly
	maxManifest = 1 << 20   // size of the signed text, in bytes
	maxSigs     = 16        // number of signatures of one bundle
	PolicyName  = "policy.toml"
	fixtures    = "fixtures/"
	firstLine   = "clawai bundle 1"
)

// Bundle is the content of a bundle.
type Bundle struct {
	Counter uint64    // 1 to MaxCounter; a laptop never accepts a smaller counter than before
	Created time.Time // in UTC, in whole seconds
	Files   []File    // sorted by name
}

// File is one file of a bundle.
type File struct {
	Name string // path in the bundle, with "/" between folders
	Text []byte
}

// Find returns the text of the file with a name; nil if there is no such file.
func (b *Bundle) Find(name string) []byte {
	for _, f := range b.Files {
		if f.Name == name {
			return f.Text
		}
	}
	return nil
}

// Policy returns the text of policy.toml.
func (b *Bundle) Policy() []byte { return b.Find(PolicyName) }

// Fixtures returns the fixtures.
func (b *Bundle) Fixtures() (all []File) {
	for _, f := range b.Files {
		if strings.HasPrefix(f.Name, fixtures) {
			all = append(all, f)
		}
	}
	return all
}

// Packs returns the packs.
func (b *Bundle) Packs() (all []File) {
	for _, f := range b.Files {
		if f.Name != PolicyName && !strings.HasPrefix(f.Name, fixtures) {
			all = append(all, f)
		}
	}
	return all
}

// FixtureName returns the name of a fixture in a bundle.
func FixtureName(below string) string { return fixtures + below }

// maxDepth is the largest number of folders between fixtures and a file.
const maxDepth = 7

// isPart reports whether a text is a plain name of a folder or a file: at most 105 bytes, not a
// hidden name, and without characters that some system reads in another way.
func isPart(s string) bool {
	if s == "" || len(s) > 105 || s[0] == '.' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
}

// isPackName reports whether a text is the name of a pack. The name must be plain. It must not be
// the name of a device on any system, and not the name of the policy.
func isPackName(s string) bool {
	stem, isTOML := strings.CutSuffix(s, ".toml")
	device, _, _ := strings.Cut(strings.ToLower(stem), ".")
	if numbered := strings.TrimRight(device, "0123456789"); numbered == "com" || numbered == "lpt" {
		return false
	}
	return isTOML && stem != "" && isPart(s) && !slices.Contains([]string{"con", "prn", "aux", "nul", "policy"}, device)
}

// isFixtureName reports whether a text is the name of a fixture in a bundle.
func isFixtureName(s string) bool {
	below, isFixture := strings.CutPrefix(s, fixtures)
	stem, isJSON := strings.CutSuffix(below, ".json")
	if !isFixture || !isJSON || stem == "" || strings.HasSuffix(stem, "/") || strings.Count(below, "/") > maxDepth {
		return false
	}
	for part := range strings.SplitSeq(below, "/") {
		if !isPart(part) {
			return false
		}
	}
	return true
}

// check returns an error for a bundle that contains other things than rules, or that does not fit
// the format.
func (b *Bundle) check() error {
	switch {
	case b.Counter < 1 || b.Counter > MaxCounter:
		return fmt.Errorf("its counter %d is not between 1 and %d", b.Counter, uint64(MaxCounter))
	case b.Created.Location() != time.UTC || b.Created.Nanosecond() != 0 || b.Created.Year() < 2020 || b.Created.Year() > 9999:
		return errors.New("its time is not one of this century in UTC and whole seconds")
	case len(b.Files) > MaxFiles:
		return fmt.Errorf("it has %d files, and at most %d are read", len(b.Files), MaxFiles)
	case b.Policy() == nil:
		return errors.New("it has no policy.toml")
	}
	packs, err := packsOf(b.Policy())
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, f := range b.Files {
		if i > 0 && b.Files[i-1].Name >= f.Name {
			return fmt.Errorf("the file %q does not stand in the order of names", f.Name)
		}
		lower := strings.ToLower(f.Name)
		if seen[lower] {
			return fmt.Errorf("the file %q is there twice for a system that folds case", f.Name)
		}
		seen[lower] = true
		switch {
		case f.Name == PolicyName:
		case isFixtureName(f.Name):
		case !slices.Contains(packs, f.Name):
			return fmt.Errorf("it holds %q, which is no rule: a bundle has policy.toml, the packs that it names and fixtures/NAME.json", f.Name)
		}
		if !utf8.Valid(f.Text) {
			return fmt.Errorf("the file %q is not UTF-8", f.Name)
		}
	}
	for _, name := range packs {
		if !seen[strings.ToLower(name)] {
			return fmt.Errorf("policy.toml names the pack %q, and the bundle does not hold it", name)
		}
	}
	return nil
}

// packsOf returns the packs that a policy names. It returns an error if the policy names a file
// that the bundle cannot contain, because the text of such a file would not be signed.
func packsOf(src []byte) (names []string, err error) {
	for _, x := range policy.PackFiles(PolicyName, src) {
		if !isPackName(x.File) {
			return nil, fmt.Errorf("%s:%d: the pack %q must be a plain name, as words.toml, of a file beside the policy", PolicyName, x.Pos.Line, x.File)
		}
		names = append(names, x.File)
	}
	for _, x := range policy.Extensions(PolicyName, src) {
		if x.File != "" {
			return nil, fmt.Errorf("%s:%d: the policy of a bundle extends no files; write the rules of %q into it", PolicyName, x.Pos.Line, x.File)
		}
	}
	return names, nil
}

// PackNames returns the names of the packs in the policy of a bundle. The packs are files beside
// the policy.
func PackNames(src []byte) ([]string, error) { return packsOf(src) }

// Write returns a bundle without a signature. It returns an error for a bundle that Read would
// refuse.
func Write(b Bundle) ([]byte, error) {
	b.Created = b.Created.UTC().Truncate(time.Second)
	b.Files = slices.Clone(b.Files)
	slices.SortFunc(b.Files, func(x, y File) int { return strings.Compare(x.Name, y.Name) })
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("no bundle was made: %w", err)
	}
	text := b.manifest()
	out := []byte(text + "\n\n")
	for _, f := range b.Files {
		out = append(out, f.Text...)
	}
	if len(text) > maxManifest || len(out) > MaxSize {
		return nil, fmt.Errorf("no bundle was made: it would have %d bytes, and at most %d MiB are read", len(out), MaxSize>>20)
	}
	return out, nil
}

// manifest returns the text that a signature signs.
func (b *Bundle) manifest() string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s\ncounter %d\ncreated %s\n", firstLine, b.Counter, b.Created.Format(time.RFC3339))
	for _, f := range b.Files {
		sum := sha256.Sum256(f.Text)
		fmt.Fprintf(&w, "%s %d %x\n", f.Name, len(f.Text), sum)
	}
	return w.String()
}

// parse reads a manifest and cuts the content into its files.
func parse(text string, content []byte) (b Bundle, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 4 || lines[0] != firstLine {
		return b, fmt.Errorf("its first line is not %q: it is no bundle, or one for another clawai", firstLine)
	}
	count, found := strings.CutPrefix(lines[1], "counter ")
	if b.Counter, err = strconv.ParseUint(count, 10, 64); err != nil || !found {
		return b, errors.New("its second line gives no counter")
	}
	created, found := strings.CutPrefix(lines[2], "created ")
	if b.Created, err = time.Parse(time.RFC3339, created); err != nil || !found {
		return b, errors.New("its third line gives no time")
	}
	if len(lines)-3 > MaxFiles {
		return b, fmt.Errorf("it has %d files, and at most %d are read", len(lines)-3, MaxFiles)
	}
	for _, line := range lines[3:] {
		parts := strings.Split(line, " ")
		if len(parts) != 3 {
			return b, fmt.Errorf("the line %q of its manifest is not NAME SIZE SHA-256", line)
		}
		size, err := strconv.ParseUint(parts[1], 10, 31)
		if err != nil || size > uint64(len(content)) {
			return b, fmt.Errorf("the file %q is not there in its whole length", parts[0])
		}
		f := File{parts[0], content[:size:size]}
		if sum := sha256.Sum256(f.Text); hex.EncodeToString(sum[:]) != parts[2] {
			return b, fmt.Errorf("the file %q is not the one that was signed", f.Name)
		}
		b.Files, content = append(b.Files, f), content[size:]
	}
	if len(content) > 0 {
		return b, fmt.Errorf("%d bytes follow its last file", len(content))
	}
	if err := b.check(); err != nil {
		return b, err
	}
	if b.manifest() != text {
		return b, errors.New("its manifest is not written in the one form that it has")
	}
	return b, nil
}
