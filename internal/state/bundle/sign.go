package bundle

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// sigPrefix begins each line of a signature.
var sigPrefix = []byte("— ")

// split cuts a bundle into its manifest, the lines of its signatures and its content. sigs is empty
// if the bundle has no signature.
func split(src []byte) (text, sigs, content []byte, err error) {
	if len(src) > MaxSize {
		return nil, nil, nil, fmt.Errorf("it is larger than %d MiB", MaxSize>>20)
	}
	end := bytes.Index(src[:min(len(src), maxManifest+1)], []byte("\n\n"))
	if end < 0 {
		return nil, nil, nil, errors.New("no manifest stands at its beginning: it is no bundle")
	}
	text, rest := src[:end+1], src[end+2:]
	for at := rest; ; {
		line, after, found := bytes.Cut(at, []byte("\n"))
		if !found {
			return nil, nil, nil, errors.New("it ends within its manifest")
		}
		if len(line) == 0 {
			return text, rest[:len(rest)-len(at)], after, nil
		}
		if !bytes.HasPrefix(line, sigPrefix) || len(line) > 1000 {
			return nil, nil, nil, errors.New("a line behind its manifest is no signature")
		}
		at = after
	}
}

// Read reads a bundle and returns it with the names of the keys that have signed it. It returns an
// error if no key in the list keys has signed the bundle. The list has verifier keys of
// golang.org/x/mod/sumdb/note.
func Read(src []byte, keys []string) (b Bundle, signers []string, err error) {
	known, err := ParseKeys(keys)
	if err != nil {
		return b, nil, err
	}
	text, sigs, content, err := split(src)
	if err != nil {
		return b, nil, fmt.Errorf("the bundle cannot be read: %w", err)
	}
	if bytes.Count(sigs, sigPrefix) > maxSigs {
		return b, nil, fmt.Errorf("the bundle cannot be read: it has more than %d signatures", maxSigs)
	}
	if len(sigs) == 0 {
		return b, nil, errors.New("the bundle is not signed; sign it with: clawai policy bundle sign")
	}
	if err := checkSignatures(sigs); err != nil {
		return b, nil, fmt.Errorf("the bundle cannot be read: %w", err)
	}
	n, err := note.Open(bytes.Join([][]byte{text, sigs}, []byte("\n")), note.VerifierList(known...))
	if unknown, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return b, nil, fmt.Errorf("the bundle is signed by %s, and by none of the keys that hold here: %s", listSigners(unknown.Note.UnverifiedSigs), listKeys(known))
	}
	if err != nil {
		return b, nil, fmt.Errorf("the bundle's signature cannot be verified: %w", err)
	}
	if b, err = parse(n.Text, content); err != nil {
		return b, nil, fmt.Errorf("the bundle cannot be read: %w", err)
	}
	for _, s := range n.Sigs {
		signers = append(signers, s.Name)
	}
	return b, signers, nil
}

// checkSignatures returns an error if the base64 of a signature could also be written in another
// way. Package note ignores the unused bits at the end of base64. Without this check, somebody
// could change these bits in a bundle, and its signatures would stay valid.
func checkSignatures(sigs []byte) error {
	for line := range bytes.Lines(sigs) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if _, err := base64.StdEncoding.Strict().DecodeString(string(line[bytes.LastIndexByte(line, ' ')+1:])); err != nil {
			return errors.New("a signature is not written in base64")
		}
	}
	return nil
}

// ReadUnsigned reads a bundle without a check of its signatures, so anybody may have written the
// result.
func ReadUnsigned(src []byte) (Bundle, error) {
	text, _, content, err := split(src)
	if err == nil {
		var b Bundle
		if b, err = parse(string(text), content); err == nil {
			return b, nil
		}
	}
	return Bundle{}, fmt.Errorf("the bundle cannot be read: %w", err)
}

// Sign returns a bundle with one more signature. key is a signer's key of
// golang.org/x/mod/sumdb/note. The new signature replaces an earlier signature by the same key.
func Sign(src []byte, key string) ([]byte, error) {
	signer, err := note.NewSigner(strings.TrimSpace(key))
	if err != nil {
		return nil, fmt.Errorf("the key cannot be used: %w; make one with: clawai policy bundle key", err)
	}
	if _, err := ReadUnsigned(src); err != nil {
		return nil, err
	}
	text, sigs, content, err := split(src)
	if err != nil {
		return nil, err
	}
	n := &note.Note{Text: string(text)}
	if len(sigs) > 0 {
		_, err := note.Open(bytes.Join([][]byte{text, sigs}, []byte("\n")), nil)
		before, ok := errors.AsType[*note.UnverifiedNoteError](err)
		if !ok {
			return nil, fmt.Errorf("the signatures of the bundle cannot be read: %w", err)
		}
		n.UnverifiedSigs = before.Note.UnverifiedSigs
	}
	out, err := note.Sign(n, signer)
	if err != nil {
		return nil, fmt.Errorf("the bundle was not signed: %w", err)
	}
	return append(append(out, '\n'), content...), nil
}

// NewKey makes a pair of keys: the secret key signs, and the public key verifies. name tells people
// who owns the keys; a host name such as team.example is usual.
func NewKey(name string) (secret, public string, err error) {
	if name == "" || strings.ContainsAny(name, "+\"'") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", "", fmt.Errorf("%q is not the name of a key; it is one like team.example", name)
	}
	return note.GenerateKey(rand.Reader, name)
}

// ParseKeys reads verifier keys and returns each key once. It returns an error if there is no key.
func ParseKeys(keys []string) (all []note.Verifier, err error) {
	for _, key := range keys {
		v, err := note.NewVerifier(strings.TrimSpace(key))
		if err != nil {
			return nil, fmt.Errorf("%q is not a key that verifies bundles: %w", key, err)
		}
		if !slices.ContainsFunc(all, func(w note.Verifier) bool { return w.Name() == v.Name() && w.KeyHash() == v.KeyHash() }) {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no key that verifies bundles is known")
	}
	return all, nil
}

func listSigners(sigs []note.Signature) string {
	names := make([]string, 0, len(sigs))
	for _, s := range sigs {
		names = append(names, fmt.Sprintf("%s+%08x", s.Name, s.Hash))
	}
	return strings.Join(names, ", ")
}

func listKeys(keys []note.Verifier) string {
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, fmt.Sprintf("%s+%08x", k.Name(), k.KeyHash()))
	}
	return strings.Join(names, ", ")
}
