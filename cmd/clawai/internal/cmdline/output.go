package cmdline

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/escape"
)

// WriteJSON prints one indented JSON document for programs. It does not escape < and >.
func WriteJSON(w io.Writer, v any) error {
	doc := json.NewEncoder(w)
	doc.SetEscapeHTML(false)
	doc.SetIndent("", "  ")
	return doc.Encode(v)
}

// WriteASCIIJSON prints one JSON document in ASCII. It escapes all other characters, so that text
// from strangers cannot control a terminal.
func WriteASCIIJSON(w io.Writer, doc any) error {
	src, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(escape.AppendASCII(make([]byte, 0, len(src)+1), src), '\n'))
	return err
}

// CountText returns the text in the parameter one if n is 1. Otherwise it returns the text in the
// parameter several, with n in place of %d.
func CountText(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(several, n)
}

// JoinNames returns the first five names in quotes, with commas between them, and the number of
// further names.
func JoinNames(names []string) string {
	const most = 5
	words := make([]string, 0, most+1)
	for i, name := range names {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		words = append(words, strconv.Quote(name))
	}
	return strings.Join(words, ", ")
}

// Quote joins the words of a command line and quotes them, so that a person can paste the command
// line.
func Quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsFunc(w, needsQuotes) {
			quoted[i] = strconv.Quote(w)
			if strings.ContainsAny(w, "$`!") { // a shell expands these between double quotes
				quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
			}
		}
	}
	return strings.Join(quoted, " ")
}

func needsQuotes(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_./:=@,+%", r)
}
