//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/scripted"
)

const uploadRules = `
[[rule]]
action = "redact"
on = "upload"
tool = "**"
find = ["secret"]
description = "No key leaves"

[[rule]]
action = "deny"
on = "upload"
find = ["iban"]
description = "No bank account leaves"

[[rule]]
action = "prompt"
on = "upload"
method = "model/words"
find = ["secret", "card", "ssn"]
description = "Nobody answers, so what a client sends by itself must hold none"

[[rule]]
action = "allow"
tool = "shell"
args.command = ["cat *", "touch *"]
`

const (
	uploadKey  = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	uploadIBAN = "DE09370501980084739162"
)

// TestModelUpload: what a tool of three real clients has read goes to their model without the key in it, or
// not at all, and the conversation goes on; what a client says itself is refused with an error that it shows.
func TestModelUpload(t *testing.T) {
	memory := map[string]string{"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "gemini": "GEMINI.md"}
	for _, a := range agents {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			model := &scripted.Model{Pieces: true}
			upstream := &recorder{Handler: model}
			s := modelSite(t, a, serve(t, upstream), uploadRules)
			s.write("projects/key.txt", "before "+uploadKey+" after\n")
			s.write("projects/bank.txt", "pay to "+uploadIBAN+"\n")
			shell := func(command string) scripted.Turn { return scripted.Turn{Tool: s.shell, Args: s.args(command)} }
			model.Turns = []scripted.Turn{shell("cat key.txt"), shell("cat bank.txt"), s.touch("allowed-a"), s.touch("allowed-b")}
			s.playThrough("--judge", "uncovered")
			if model.CountAsked() != 5 || !s.made("allowed-a") || !s.made("allowed-b") {
				t.Errorf("the model was asked for %d of 5 turns", model.CountAsked())
			}
			all := upstream.bodies()
			redacted := 0
			for _, body := range all {
				if strings.Contains(body, uploadKey) || strings.Contains(body, uploadIBAN) {
					t.Errorf("sent:\n%s", body)
				}
				redacted += strings.Count(body, "before [clawai:withheld secret 1] after")
			}
			if last := all[len(all)-1]; redacted < 4 || !strings.Contains(last, "No bank account leaves") {
				t.Errorf("%d redacted; the last request:\n%s", redacted, last)
			}
			log := s.must(clawai, "log", "--json")
			if strings.Count(log, "model/upload") == 0 || strings.Contains(log, uploadKey) || strings.Contains(log, uploadIBAN) {
				t.Errorf("on record:\n%s", log)
			}
			s.must(clawai, "log", "verify")
			t.Logf("%s", s.must(clawai, "log"))

			s.write("projects/"+memory[a.id], "Pay to "+uploadIBAN+".\n")
			before := len(upstream.bodies())
			words := slices.Concat([]string{filepath.Join(s.bin, "clawai"), "llm-proxy", "--client", s.hookID(), "--judge", "uncovered", "--"}, s.absolute())
			cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
			cmd.Dir, cmd.Env = s.projects(), append(slices.Clip(s.env), "PWD="+s.projects())
			out, err := cmd.CombinedOutput()
			t.Logf("%s says (%v):\n%s", a.id, err, out)
			if !strings.Contains(string(out), "keeps back what you or your agent say") || !strings.Contains(string(out), "No bank account leaves") {
				t.Errorf("the client does not say why")
			}
			for _, body := range upstream.bodies()[before:] {
				if strings.Contains(body, uploadIBAN) {
					t.Errorf("sent:\n%s", body)
				}
			}
		})
	}
}
