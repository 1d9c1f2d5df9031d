package program

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
)

// A table that is too wide for the terminal breaks at spaces, below the cell that it continues. A file gets
// whole lines.
func TestTablesFitTheTerminal(t *testing.T) {
	write := func(width int) string {
		var out strings.Builder
		p := &prose{w: &out, width: width}
		w := tabwriter.NewWriter(p, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NUMBER\tBY\tAGREED")
		fmt.Fprintln(w, "7\tAda Example\tGrace Example, Edsger Example, Barbara Example")
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(p, "and no line end")
		if err := p.finishLine(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const whole = "NUMBER  BY           AGREED\n7       Ada Example  Grace Example, Edsger Example, Barbara Example\nand no line end"
	if got := write(0); got != whole {
		t.Errorf("a file gets\n%s", got)
	}
	const broken = "NUMBER  BY           AGREED\n7       Ada Example  Grace Example, Edsger\n                     Example, Barbara\n                     Example\nand no line end"
	if got := write(44); got != broken {
		t.Errorf("a terminal gets\n%s", got)
	}
}
