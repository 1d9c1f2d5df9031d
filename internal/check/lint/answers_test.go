package lint_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/lint"
)

// TestWideAnswers: only an allow that "always" wrote, about a command of one folder, is
// told of, and no longer once it names the folder.
func TestWideAnswers(t *testing.T) {
	const always = "# Written on 2026-02-03 after the answer \"always\" (exact) to the rule below.\n# Arguments it does not name stay open.\n"
	rule := func(action, line string) string {
		return "[[rule]]\naction = \"" + action + "\"\ntool = \"run_command\"\n" + line + "\n"
	}
	for text, want := range map[string]bool{
		always + rule("allow", `args.command = "./deploy.sh"`):                                      true,
		always + rule("allow", `args.command = ["ls", "python3 tools/x.py"]`):                       true,
		always + rule("allow", "cwd = \"/srv/app\"\nargs.command = \"./deploy.sh\""):                false,
		always + rule("deny", `args.command = "./deploy.sh"`):                                       false,
		always + rule("allow", `args.command = "npm test"`):                                         false,
		always + rule("allow", `args.command = "/usr/bin/deploy.sh"`):                               false,
		always + rule("allow", `args.command = "./*"`):                                              false,
		always + "\n" + rule("allow", `args.command = "./deploy.sh"`):                               false,
		"# Mine.\n" + rule("allow", `args.command = "./deploy.sh"`):                                 false,
		strings.Replace(always, "always", "deny always", 1) + rule("allow", `args.command = "./x"`): false,
		strings.Replace(always+rule("allow", `args.title = "./x"`), "run_command", "note", 1):       false,
	} {
		found := false
		for _, f := range run(t, text, lint.Options{}).Findings {
			if f.Code == lint.WideAnswer {
				found = true
				if f.Fix == "" || !strings.Contains(f.Message, "holds in every folder") {
					t.Errorf("%s: %+v", text, f)
				}
			}
		}
		if found != want {
			t.Errorf("found %v, want %v:\n%s", found, want, text)
		}
	}
}
