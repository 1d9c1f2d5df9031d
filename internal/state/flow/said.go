package flow

import (
	"bytes"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// A server may label its own results in _meta, as GitHub's server does:
//
//	"_meta": {"ifc": {"integrity": "untrusted", "confidentiality": ["ana", "bob"]}}
//
// Such a label of the server can only add labels to the session. If the server labels a result as
// trusted or public, nothing changes. An unknown value of integrity counts as untrusted. An unknown
// value of confidentiality counts as private.

// labelKeys are the members of _meta that hold labels. A name in _meta may also have a prefix such
// as "example.org/".
var labelKeys = [...]string{"ifc", "difc", "label", "labels", "security_label", "securityLabel"}

// saidLabels returns the kinds of labels that the server itself has put into a message.
func saidLabels(message []byte) (kinds []string) {
	if !mayLabel(message) {
		return nil
	}
	add := func(kind string) {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	visitMeta(jsonscan.ValueOf(message), add)
	return kinds
}

// mayLabel reports whether a message may have labels in _meta. It also returns true for a message
// in which letters are written as escapes, because these may spell such a label.
func mayLabel(message []byte) bool {
	for _, letters := range [...]string{`\u004`, `\u005`, `\u006`, `\u007`} {
		if bytes.Contains(message, []byte(letters)) {
			return true
		}
	}
	return bytes.Contains(message, []byte(`"_meta"`)) && (containsFold(message, "ntegrity") || containsFold(message, "onfidentiality"))
}

// containsFold reports whether a message has a word in lower case or in capitals.
func containsFold(message []byte, word string) bool {
	return bytes.Contains(message, []byte(word)) || bytes.Contains(message, []byte(strings.ToUpper(word)))
}

// visitMeta reads every _meta of a result: its own, and the _meta of its parts.
func visitMeta(v jsonscan.Value, add func(kind string)) {
	for key, value := range v.Members() {
		if key.Text() == "_meta" {
			readMeta(value, false, add)
			continue
		}
		visitMeta(value, add)
	}
	for value := range v.Elements() {
		visitMeta(value, add)
	}
}

// readMeta reads the labels in a part of a _meta. The parameter named means that this part is
// inside a member of labelKeys. In any other part, an integrity without a confidentiality may be a
// checksum.
func readMeta(v jsonscan.Value, named bool, add func(kind string)) {
	labelled := named || hasMember(v, "confidentiality")
	for key, value := range v.Members() {
		switch name := key.Text(); {
		case strings.EqualFold(name, "integrity"):
			if labelled && !isOneOf(value, "trusted", "high") {
				add(untrusted)
			}
		case !strings.EqualFold(name, "confidentiality"):
		case isSecret(value):
			add(secret)
		case !isPublic(value):
			add(private)
		}
	}
	for key, value := range v.Members() {
		name := key.Text()
		readMeta(value, named || isLabelKey(name[strings.LastIndexByte(name, '/')+1:]), add)
	}
	for value := range v.Elements() {
		readMeta(value, named, add)
	}
}

// hasMember reports whether an object has a member with this name. It ignores the case of letters.
func hasMember(v jsonscan.Value, name string) bool {
	for key := range v.Members() {
		if strings.EqualFold(key.Text(), name) {
			return true
		}
	}
	return false
}

func isLabelKey(name string) bool {
	return slices.ContainsFunc(labelKeys[:], func(key string) bool { return strings.EqualFold(key, name) })
}

// isSecret reports whether readers is the text "secret", or a list that contains "secret".
func isSecret(readers jsonscan.Value) bool {
	for one := range readers.Elements() {
		if isOneOf(one, "secret") {
			return true
		}
	}
	return isOneOf(readers, "secret")
}

func isOneOf(v jsonscan.Value, words ...string) bool {
	return v.Kind() == jsonscan.String && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, v.Text()) })
}

// isPublic reports whether everybody may read a result, because "public" is its only reader.
func isPublic(readers jsonscan.Value) bool {
	n := 0
	for one := range readers.Elements() {
		if n++; !isOneOf(one, "public") {
			return false
		}
	}
	return n > 0 || isOneOf(readers, "public")
}

// addSaid adds the labels that the server itself has put into a message. It leaves out a label if
// the message already has the same kind or a stricter kind.
func addSaid(all []gate.Label, kinds []string, source string) []gate.Label {
	for _, kind := range kinds {
		if !slices.ContainsFunc(all, func(l gate.Label) bool { return l.Kind == kind || kind == private && l.Kind == secret }) {
			all = append(all, gate.Label{Kind: kind, Source: source})
		}
	}
	return all
}
