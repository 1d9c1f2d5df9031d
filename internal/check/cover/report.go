package cover

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// percentOf returns the first number as a percentage of the second, or 100 if the second is 0.
func percentOf(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// Percent returns the percentage of points that are covered.
func (c Coverage) Percent() float64 { return percentOf(c.Score()) }

// Percent returns the percentage of counted mutants that were killed.
func (m Mutation) Percent() float64 {
	killed, counted, _ := m.Score()
	return percentOf(killed, counted)
}

// WriteText writes the uncovered points and a summary line, for people.
func (c Coverage) WriteText(w io.Writer, file string) error {
	out := bufio.NewWriter(w)
	for _, p := range c.Points {
		if !p.Covered {
			fmt.Fprintf(out, "%s:%d: never %s: %s\n    add a fixture: %s\n", file, p.Line, p.Way, p.What, p.Hint)
			if p.Fixture != nil {
				fmt.Fprintf(out, "    such as %s\n", compactFixture(p.Fixture.Text))
			}
		}
	}
	covered, total := c.Score()
	fmt.Fprintf(out, "%s: the fixtures exercise %d of %d points (%.1f %%)\n", file, covered, total, c.Percent())
	return out.Flush()
}

// WriteJSON writes the coverage as one JSON document.
func (c Coverage) WriteJSON(w io.Writer, file string) error {
	type point struct {
		Line    int             `json:"line"`
		What    string          `json:"what"`
		Way     string          `json:"way"`
		Covered bool            `json:"covered"`
		By      string          `json:"by,omitempty"`
		Hint    string          `json:"hint,omitempty"`
		Fixture json.RawMessage `json:"fixture,omitempty"`
	}
	covered, total := c.Score()
	doc := struct {
		Policy  string  `json:"policy"`
		Percent float64 `json:"percent"`
		Covered int     `json:"covered"`
		Total   int     `json:"total"`
		Points  []point `json:"points"`
	}{file, c.Percent(), covered, total, []point{}}
	for _, p := range c.Points {
		pt := point{p.Line, p.What, p.Way, p.Covered, p.By, p.Hint, nil}
		if p.Fixture != nil {
			pt.Fixture = p.Fixture.Text
		}
		doc.Points = append(doc.Points, pt)
	}
	return writeJSON(w, doc)
}

// Survivors returns the mutants that no fixture notices and that are not proved to be equivalent.
func (m Mutation) Survivors() []Outcome {
	var out []Outcome
	for _, o := range m.Outcomes {
		if !o.Killed && !o.Equivalent {
			out = append(out, o)
		}
	}
	return out
}

// WriteText writes the survivors and a summary line, for people. If a fixture that would notice a
// survivor is known, WriteText writes this fixture too.
func (m Mutation) WriteText(w io.Writer, file string) error {
	out := bufio.NewWriter(w)
	for _, o := range m.Survivors() {
		fmt.Fprintf(out, "%s:%d: no fixture notices this change: %s\n", file, o.Line, o.Name)
		if o.Fixture == nil {
			fmt.Fprintln(out, "    it was neither shown by a call nor proved to change nothing")
			continue
		}
		fmt.Fprintf(out, "    this one would: %s\n", compactFixture(o.Fixture.Text))
	}
	killed, counted, equivalent := m.Score()
	fmt.Fprintf(out, "%s: the fixtures notice %d of %d changes (%.1f %%)", file, killed, counted, m.Percent())
	if equivalent > 0 {
		fmt.Fprintf(out, "; %d more change no answer", equivalent)
	}
	fmt.Fprintln(out, describeUndecided(m.Undecided))
	return out.Flush()
}

// describeUndecided returns a phrase about the rules that have no mutants.
func describeUndecided(undecided int) string {
	switch undecided {
	case 0:
		return ""
	case 1:
		return "; 1 rule about what servers ask is not decided"
	}
	return fmt.Sprintf("; %d rules about what servers ask are not decided", undecided)
}

// compactFixture returns a fixture on one line. It is still a valid fixture
// file.
func compactFixture(text []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return ""
	}
	return out.String()
}

// WriteJSON writes the mutants as one JSON document.
func (m Mutation) WriteJSON(w io.Writer, file string) error {
	type survivor struct {
		Line    int             `json:"line"`
		Kind    string          `json:"kind"`
		Change  string          `json:"change"`
		Fixture json.RawMessage `json:"fixture,omitempty"`
	}
	killed, counted, equivalent := m.Score()
	doc := struct {
		Policy     string     `json:"policy"`
		Percent    float64    `json:"percent"`
		Killed     int        `json:"killed"`
		Counted    int        `json:"counted"`
		Equivalent int        `json:"equivalent"`
		Undecided  int        `json:"undecided,omitempty"` // number of rules that only edit requests of a server to the client
		Survivors  []survivor `json:"survivors"`
	}{file, m.Percent(), killed, counted, equivalent, m.Undecided, []survivor{}}
	for _, o := range m.Survivors() {
		s := survivor{Line: o.Line, Kind: o.Kind, Change: o.Name}
		if o.Fixture != nil {
			s.Fixture = o.Fixture.Text
		}
		doc.Survivors = append(doc.Survivors, s)
	}
	return writeJSON(w, doc)
}

func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
