//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRealClients holds for each client that it starts the real server through
// the proxy once its file is wrapped, and that unwrap gives back the file as it
// was.
func TestRealClients(t *testing.T) {
	for _, c := range realClients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := clientSite(t, c)

			// First without clawai: some clients write their own file at their
			// first start.
			c.start(s)
			path := filepath.Join(s.home, c.file)
			bare := s.read(c.file)
			if out := s.must(clawai, "log", "--json"); out != "" {
				t.Fatalf("without a wrapper there is nothing to record:\n%s", out)
			}

			s.must(clawai, "wrap", "filesystem", "--client", c.id, "--file", path, "--yes")
			s.must(clawai, "status", "--check")
			c.start(s)
			c.reached(s)
			s.must(clawai, "log", "verify")
			starts := s.must(clawai, "log", "--kind", "start", "--json")

			s.must(clawai, "unwrap", "filesystem", "--client", c.id, "--file", path, "--yes")
			if now := s.read(c.file); !bytes.Equal(now, bare) {
				t.Errorf("unwrap left another file.\nbefore:\n%s\nafter:\n%s", bare, now)
			}
			c.start(s)
			if out := s.must(clawai, "log", "--kind", "start", "--json"); out != starts || strings.Count(out, "\n") != 1 && c.gaveUp == "" {
				t.Errorf("the proxy ran once, and not without its wrapper:\n%s", out)
			}
		})
	}
}

// clientSite is a clean home with one client's file.
func clientSite(t *testing.T, c realClient) site {
	t.Helper()
	s := newSite(t, allowAll)
	server, err := filepath.Abs("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	s.write(c.file, strings.NewReplacer("SERVER", server, "FOLDER", s.projects()).Replace(c.config))
	// The binary under test lies in the temporary folder, which wrap refuses to
	// write into a file; so the temporary folder is another one.
	s.write("tmp/.keep", "")
	s.env = append(s.env, "TMPDIR="+filepath.Join(s.home, "tmp"), "NO_COLOR=1")
	s.env = append(s.env, c.env...)
	return s
}

// must runs a command at the site that has to succeed.
func (s site) must(argv ...string) string {
	s.t.Helper()
	out, err := s.run(argv...)
	if err != nil {
		s.t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return out
}

func (s site) read(name string) []byte {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.home, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// start lets the client start its servers and holds that the one we gave it
// answered.
func (c realClient) start(s site) {
	s.t.Helper()
	program, err := filepath.Abs(c.check[0])
	if err != nil {
		s.t.Fatal(err)
	}
	want := regexp.MustCompile("(?s)" + c.want)
	args := slices.Clone(c.check[1:])
	if i := slices.Index(args, "FILE"); i >= 0 {
		args[i] = filepath.Join(s.home, c.file)
	}
	var out []byte
	for again := true; again; again = c.gaveUp != "" && strings.Contains(string(out), c.gaveUp) {
		cmd := exec.CommandContext(s.t.Context(), program, args...)
		cmd.Dir, cmd.Env = s.projects(), s.env
		cmd.WaitDelay = time.Minute
		if c.stdin == nil {
			out, err = cmd.CombinedOutput()
		} else {
			out, err = talk(cmd, c.stdin)
		}
	}
	if err != nil || !want.Match(out) {
		s.t.Fatalf("%s did not reach the server: %v\n%s", c.name, err, out)
	}
	s.deserted() // a client ends before the proxies that it started, and they write the record to the end
}

// talk gives the command one entry of lines after each line that it answers.
func talk(cmd *exec.Cmd, lines []string) ([]byte, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	answers := json.NewDecoder(stdout)
	for _, line := range lines {
		if _, err = stdin.Write([]byte(line + "\n")); err != nil {
			break
		}
		if err = answered(answers, &out); err != nil {
			break
		}
	}
	stdin.Close()
	if waited := cmd.Wait(); err == nil {
		err = waited
	}
	return out.Bytes(), err
}

// answered copies messages to out until one of them has an id.
func answered(in *json.Decoder, out *bytes.Buffer) error {
	for {
		var message json.RawMessage
		if err := in.Decode(&message); err != nil {
			return err
		}
		out.Write(append(message, '\n'))
		var answer struct{ ID json.RawMessage }
		if err := json.Unmarshal(message, &answer); err != nil {
			return err
		}
		if answer.ID != nil {
			return nil
		}
	}
}

// reached holds that the record tells of the real server's answers.
func (c realClient) reached(s site) {
	s.t.Helper()
	out := s.must(clawai, "log", "--server", "filesystem", "--json")
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		var event struct{ Kind, Method, Detail string }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			s.t.Fatal(err)
		}
		if event.Kind == "start" && !strings.Contains(event.Detail, "server-filesystem/dist/index.js") {
			s.t.Errorf("another server was started: %s", event.Detail)
		}
		seen[event.Kind+" "+event.Method] = true
	}
	want := []string{"start ", "passed initialize", "outcome initialize"}
	if c.lists {
		want = append(want, "listed tools/list")
	}
	for _, what := range want {
		if !seen[what] {
			s.t.Errorf("%s: no %q on record:\n%s", c.name, what, out)
		}
	}
}
