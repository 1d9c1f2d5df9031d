package hook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/hook/sample"
)

// A payload of one client at the hook that was registered for another is judged by the row
// of the client that wrote it, or denied: never under another client's names.
func TestPayloadsAtOtherRegistrations(t *testing.T) {
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	judged, denied, noted, other := 0, 0, 0, 0
	for _, file := range files {
		id := filepath.Base(filepath.Dir(file))
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		own, err := client.FindRow(id).Read(payload, "")
		if err != nil {
			continue // nobody's
		}
		for _, at := range client.IDs() {
			req, err := client.FindRow(at).Read(payload, "")
			switch {
			case err != nil:
				denied++
			case req.Row.ID == own.Row.ID:
				judged++
			case own.Event.Kind != client.Before && req.Event.Kind == own.Event.Kind:
				noted++ // nothing is judged, and some clients write these events in the same words
			default:
				other++
				t.Errorf("%s at %s: judged as one of %s", strings.TrimPrefix(file, "testdata/payloads/"), at, req.Row.ID)
			}
		}
	}
	t.Logf("%d payloads at %d registrations: %d taken for their client's, %d denied, %d events noted under a client that writes the same, %d judged as another's", len(files), len(client.IDs()), judged, denied, noted, other)
	if judged < 1000 {
		t.Errorf("only %d were judged", judged)
	}
}

// Each row says at which version it was seen and how, and has a payload that was.
func TestProvenance(t *testing.T) {
	for _, id := range client.IDs() {
		row := client.FindRow(id)
		if row.Seen == "" {
			t.Errorf("%s: no version", id)
		}
		switch row.From {
		case client.Real, client.FromCode, client.FromUsers:
		default:
			t.Errorf("%s: %q is no source", id, row.From)
		}
	}
}

// What doctor plays is what the client's row reads, as a command of its shell, at every
// registration that does not deny it.
func TestSamples(t *testing.T) {
	for _, id := range client.IDs() {
		payload, ok := sample.CommandRequest(id, "echo hello")
		if !ok {
			t.Errorf("%s: nothing to play", id)
			continue
		}
		req, err := client.FindRow(id).Read(payload, "")
		if err != nil || req.Row.ID != id || len(req.Calls) != 1 || !strings.Contains(string(req.Calls[0].Args), "echo hello") {
			t.Errorf("%s: %v %+v", id, err, req)
			continue
		}
		if class := builtin.FindTool(id, req.Calls[0].Names[0]).Class; class != "shell" {
			t.Errorf("%s: %q is of the class %q", id, req.Calls[0].Names, class)
		}
		for _, at := range client.IDs() {
			if other, err := client.FindRow(at).Read(payload, ""); err == nil && other.Row.ID != id {
				t.Errorf("%s at %s: read as one of %s", id, at, other.Row.ID)
			}
		}
	}
}

// The model chooses the name of the tool, so it proves no agent: with any name in it, a payload is said
// to come from its client, or from nobody who is known.
func TestToolNamesProveNoAgent(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`("tool_name"|"toolName")\s*:\s*"[^"]*"`)
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	sure, open := 0, 0
	for _, file := range files {
		id := filepath.Base(filepath.Dir(file))
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		own, err := client.FindRow(id).Read(payload, "")
		if err != nil || own.Event.Kind != client.Before || !name.Match(payload) {
			continue
		}
		if own.Row.ID == id && own.Agent != id {
			t.Errorf("%s: at its own registration the agent is %q", file, own.Agent)
		}
		for _, tool := range []string{"Read", "Bash", "Shell", "read_file", "run_shell_command", "exec_command", "shell", "execute_bash", "fs_read", "Execute", "runTerminalCommand", "mcp__a__b", "none"} {
			said := name.ReplaceAll(payload, []byte(`${1}:"`+tool+`"`))
			for _, at := range client.IDs() {
				req, err := client.FindRow(at).Read(said, "")
				switch {
				case err != nil:
				case req.Agent == "":
					open++
				case req.Agent != own.Row.ID && req.Agent != at:
					t.Errorf("%s at %s with the tool %s: the agent is %s", file, at, tool, req.Agent)
				default:
					sure++
				}
			}
		}
	}
	if t.Logf("%d sure, %d not", sure, open); sure < 1000 || open == 0 {
		t.Errorf("%d payloads are of a sure agent, and %d are not", sure, open)
	}
}
