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
// Such a label can only add labels of ours. If the server labels a result as trusted or public, that
// changes nothing. An unknown value of integrity counts as untrusted, and one of confidentiality as
// private.

// labelKeys are the members of _meta that hold such labels, without a prefix such as
// "example.org/".
var labelKeys = [...]string{"ifc", "difc", "label", "labels", "security_label", "securityLabel"}

// saidLabels returns the kinds of labels that the server itself has put on a message.
func saidLabels(message []byte) (kinds []string) {
	if !bytes.Contains(message, []byte(`"_meta"`)) || !bytes.Contains(message, []byte("ntegrity")) && !bytes.Contains(message, []byte("onfidentiality")) {
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

// visitMeta finds every _meta: that of the result, and those of its parts.
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

// readMeta reads the labels in a part of a _meta. named means that this part is inside a member of
// labelKeys. In any other part, an integrity without confidentiality may be a checksum.
func readMeta(v jsonscan.Value, named bool, add func(kind string)) {
	integrity, readers := v.Member("integrity"), v.Member("confidentiality")
	if integrity != "" && (named || readers != "") && !isOneOf(integrity, "trusted", "high") {
		add(untrusted)
	}
	switch {
	case readers == "":
	case isOneOf(readers, "secret"):
		add(secret)
	case !isPublic(readers):
		add(private)
	}
	for key, value := range v.Members() {
		name := key.Text()
		readMeta(value, named || slices.Contains(labelKeys[:], name[strings.LastIndexByte(name, '/')+1:]), add)
	}
	for value := range v.Elements() {
		readMeta(value, named, add)
	}
}

func isOneOf(v jsonscan.Value, words ...string) bool {
	return v.Kind() == jsonscan.String && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, v.Text()) })
}

// isPublic reports whether everybody may read a result: "public" is the only reader that it names.
func isPublic(readers jsonscan.Value) bool {
	n := 0
	for one := range readers.Elements() {
		if n++; !isOneOf(one, "public") {
			return false
		}
	}
	return n > 0 || isOneOf(readers, "public")
}

// addSaid adds the labels that the server itself has put on a message, unless the message already
// has that label or a stricter one.
func addSaid(all []gate.Label, kinds []string, source string) []gate.Label {
	for _, kind := range kinds {
		if !slices.ContainsFunc(all, func(l gate.Label) bool { return l.Kind == kind || kind == private && l.Kind == secret }) {
			all = append(all, gate.Label{Kind: kind, Source: source})
		}
	}
	return all
}
