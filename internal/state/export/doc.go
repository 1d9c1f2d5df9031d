// Package export writes records in the forms that other programs take: OCSF, CEF, syslog, OTLP and
// in-toto. One record is one event, and one event is one line. docs/export.md describes the forms.
//
// All texts of a record may come from strangers. The JSON forms contain them unchanged. CEF and
// syslog contain them as clawai shows them (term.VisibleText), because these forms cannot write a
// control character. In these two forms long texts are cut, because receivers cut events that are
// longer than 8 KiB.
package export

import (
	"slices"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/wire/escape"
)

// Source names the machine and the program that export records.
type Source struct {
	Host    string // name of the machine; "" if it is not known
	Version string // version of clawai
}

// Form is a form in which events are exported (docs/export.md).
type Form struct {
	Name string
	// Append appends the event of a record to dst, without a line end.
	Append func(dst []byte, e *event.Entry, s Source) []byte
}

// Forms are all forms.
var Forms = []Form{
	{"ocsf", AppendOCSF}, {"cef", AppendCEF}, {"syslog", AppendSyslog}, {"otlp", AppendOTLP}, {"in-toto", AppendInToto},
}

// FindForm returns the form with a name. It returns false if there is no such form.
func FindForm(name string) (Form, bool) {
	i := slices.IndexFunc(Forms, func(f Form) bool { return f.Name == name })
	if i < 0 {
		return Form{}, false
	}
	return Forms[i], true
}

// FormNames returns the names of all forms.
func FormNames() (names []string) {
	for _, f := range Forms {
		names = append(names, f.Name)
	}
	return names
}

// appendJSON appends a document as one line of printable ASCII.
func appendJSON(dst []byte, doc any) []byte {
	return escape.AppendASCII(dst, mustMarshal(doc))
}
