package client

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each row's remote entry, with what the client's documentation lets it have,
// becomes a process and comes back; its key is on no command line and not in what
// is shown. CLAWAI_GOLDEN=write writes the files anew.
func TestGoldenRemote(t *testing.T) {
	for _, row := range catalogue(t) {
		if row.ReadOnly || len(row.URLFields) == 0 {
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			file := func(name string) string {
				return filepath.Join("testdata", "remote", row.ID, name+"."+string(row.Format))
			}
			before := []byte(remoteFile(row))
			e := entryOf(t, row, string(before), "far")
			after, err := Wrap(row, before, e, clawai)
			if err != nil {
				t.Fatalf("%v\n%s", err, before)
			}
			if os.Getenv("CLAWAI_GOLDEN") == "write" {
				if err := os.MkdirAll(filepath.Dir(file("x")), 0o750); err != nil {
					t.Fatal(err)
				}
				for name, src := range map[string][]byte{"before": before, "after": after} {
					if err := os.WriteFile(file(name), src, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			for name, src := range map[string][]byte{"before": before, "after": after} {
				kept, err := os.ReadFile(file(name))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(kept), string(src)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			checkGoldenRemote(t, row, e, before, after)
		})
	}
}

func checkGoldenRemote(t *testing.T, row Row, e Entry, before, after []byte) {
	t.Helper()
	decoded, err := decode(row.Format, string(after))
	if err != nil {
		t.Fatal(err)
	}
	entry, err := at(decoded, e.KeyPath)
	if err != nil {
		t.Fatal(err)
	}
	words, env := process(row, entry)
	if len(words) < 6 || words[0] != clawai.Path || words[len(words)-1] != urlReference || env[urlVariable] != "https://far.example/mcp?key=k3y" {
		t.Errorf("starts %q with %v", words, env)
	}
	if row.HeadersField != "" && !slices.Contains([]any{"X-Key: k3y", "X-Key:k3y"}, env["CLAWAI_HEADER_1"]) {
		t.Errorf("environment %v", env)
	}
	for _, field := range slices.Concat(row.URLFields, []string{row.HeadersField, row.EnvHeadersField, row.BearerField}) {
		if _, stays := entry[field]; field != "" && stays {
			t.Errorf("%q stays in the entry", field)
		}
	}
	if strings.Contains(strings.Join(words, " "), "k3y") || bytes.Contains(MaskFile(row, before), []byte("k3y")) || bytes.Contains(MaskFile(row, after), []byte("k3y")) {
		t.Errorf("the key shows: %q\n%s", words, MaskFile(row, after))
	}
	again, err := Wrap(row, after, e, clawai)
	if err != nil || !bytes.Equal(again, after) {
		t.Errorf("wrapped twice: %v\n%s", err, again)
	}
	if back, err := Unwrap(row, after, e); err != nil || !bytes.Equal(back, before) {
		t.Errorf("unwrapped: %v\n%s", err, back)
	}
}

// remoteFile is a file of the row with one remote entry and another beside it.
func remoteFile(row Row) string {
	members := [][2]string{{row.URLFields[0], `"https://far.example/mcp?key=k3y"`}}
	if row.TypeField != "" {
		typ := "http"
		if len(row.RemoteTypes) > 0 {
			typ = row.RemoteTypes[0]
		}
		members = append([][2]string{{row.TypeField, quoteText(typ)}}, members...)
	}
	if row.BearerField != "" {
		members = append(members, [2]string{row.BearerField, `"FAR_TOKEN"`})
	}
	if row.NameField != "" {
		members = append([][2]string{{row.NameField, `"far"`}}, members...)
	}
	switch row.Format {
	case TOML:
		return tomlRemoteFile(row, members)
	case YAML:
		return yamlRemoteFile(row, members)
	}
	if row.HeadersField != "" {
		members = append(members, [2]string{row.HeadersField, `{ "X-Key": "k3y" }`})
	}
	text := ""
	for _, m := range members {
		text += fmt.Sprintf("    %q: %s,\n", m[0], m[1])
	}
	text = "{\n  \"far\": {\n" + strings.TrimSuffix(text, ",\n") + "\n  },\n  \"near\": { \"x\": 1 }\n}"
	for _, key := range slices.Backward(row.KeyPath) {
		if key == "*" {
			key = "/srv/app"
		}
		text = fmt.Sprintf("{ %q: %s }", key, text)
	}
	return text + "\n"
}

func tomlRemoteFile(row Row, members [][2]string) string {
	key := strings.Join(row.KeyPath, ".")
	text := "[" + key + ".far]\n"
	if row.Container == Tables {
		text = "[[" + key + "]]\n"
	}
	for _, m := range members {
		text += m[0] + " = " + m[1] + "\n"
	}
	if row.HeadersField != "" {
		text += row.HeadersField + " = { X-Key = \"k3y\" } # mine\n"
	}
	return "# first\n" + text + "\n[other]\nx = 1\n"
}

func yamlRemoteFile(row Row, members [][2]string) string {
	text := row.KeyPath[0] + ":\n  far:\n"
	lead := "    "
	if row.Container == List {
		text, lead = row.KeyPath[0]+":\n", "  - "
	}
	for _, m := range members {
		text += lead + m[0] + ": " + m[1] + "\n"
		lead = "    "
	}
	if row.HeadersField != "" {
		text += lead + row.HeadersField + ":\n" + lead + "  X-Key: k3y # mine\n"
	}
	return text + "other: 1\n"
}
