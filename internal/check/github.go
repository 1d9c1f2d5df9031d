package check

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Escapes in GitHub's workflow commands ("Workflow commands for GitHub Actions"; actions/toolkit,
// packages/core/src/command.ts).
var (
	commandText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

var commandWords = map[Severity]string{Error: "error", Warning: "warning", Note: "notice"}

func init() {
	addFormat(Format{Name: "github", Findings: writeWorkflowCommands, Tests: func(w io.Writer, r Run) error {
		if err := writeWorkflowCommands(w, Tool{}, r.Findings()); err != nil {
			return err
		}
		return WriteText(w, r.Results)
	}})
}

// writeWorkflowCommands writes a workflow command of GitHub Actions for each finding.
func writeWorkflowCommands(w io.Writer, _ Tool, findings []Finding) error {
	out := bufio.NewWriter(w)
	for _, f := range findings {
		word, known := commandWords[f.Severity]
		if !known {
			word = "error"
		}
		fmt.Fprintf(out, "::%s file=%s", word, escapeProperty(slashPath(f.Pos.File)))
		for _, p := range []struct {
			name  string
			value int
		}{{"line", f.Pos.Line}, {"col", f.Pos.Column}, {"endLine", f.EndLine}} {
			if p.value > 0 {
				fmt.Fprintf(out, ",%s=%d", p.name, p.value)
			}
		}
		fmt.Fprintf(out, ",title=%s::%s\n", escapeProperty(f.Code), commandText.Replace(escapeInvisible(joinSentences(&f))))
	}
	return out.Flush()
}

func escapeProperty(s string) string { return commandProperty.Replace(escapeInvisible(s)) }
