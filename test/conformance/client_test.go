//go:build conformance

package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clientRuns are the suite's runs against a client.
var clientRuns = []run{
	{"next", "--requirements 2025-11-25"},
	{"next", "--requirements 2026-07-28"},
	{"stable", "--suite core"},
	{"stable", "--suite auth"},
}

// TestClients puts each form between the suite's server and the SDK's client. The
// reverse proxy gets the address, and the client the proxy's. Through the bridge
// goes the same client with its HTTP transport exchanged for a command: the
// bridge is what speaks HTTP then, and what signs in.
func TestClients(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range clientRuns {
		t.Run(r.String(), func(t *testing.T) {
			scratch := t.TempDir()
			env := append(os.Environ(), "CONFORMANCE_SCRATCH="+scratch, "CONFORMANCE_SELF="+self)
			direct := r.check(t, "client", everythingClient, env)
			for form, client := range map[string]string{"reverse": everythingClient, "bridge": stdioClient} {
				through := fmt.Sprintf("%s through-%s %s %s", self, form, clawai, client)
				got := r.check(t, "client", through, env)
				place{"client", form, r}.hold(t, "direct", direct, got, expected(t), r.alone(t, "client", through, env))
			}
		})
	}
}

// throughReverse is the client command of that form: arguments are clawai, the
// client, and the address that the suite appends.
func throughReverse(args []string) int {
	env, err := owner()
	if err != nil {
		return fail(err)
	}
	if err := known(args[0], args[2], env); err != nil {
		return fail(err)
	}
	front := exec.Command(args[0], listenArgs("--upstream", "server="+args[2])...)
	front.Env, front.Stderr = env, os.Stderr
	out, err := front.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := front.Start(); err != nil {
		return fail(err)
	}
	defer func() { _ = front.Process.Signal(os.Interrupt); _ = front.Wait() }()
	return become(exec.Command(args[1], announced(bufio.NewReader(out))), env)
}

// throughBridge is the client command of the bridge.
func throughBridge(args []string) int {
	env, err := owner("CONFORMANCE_CLAWAI=" + args[0])
	if err != nil {
		return fail(err)
	}
	if err := known(args[0], args[2], env); err != nil {
		return fail(err)
	}
	return become(exec.Command(args[1], args[2]), env)
}

// known signs in beforehand where the scenario has registered a client by hand,
// or names a document for one: that is said at the sign-in.
func known(clawai, server string, env []string) error {
	var told struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &told)
	args := []string{"auth", "login"}
	switch scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO"); {
	case scenario == "auth/basic-cimd":
		args = append(args, "--client-id", "https://conformance-test.local/client-metadata.json")
	case told.ID != "" && scenario == "auth/pre-registration":
		args = append(args, "--client-id", told.ID)
	default:
		return nil
	}
	if told.Secret != "" {
		file := filepath.Join(os.Getenv("CONFORMANCE_SCRATCH"), fmt.Sprint("secret", os.Getpid()))
		if err := os.WriteFile(file, []byte(told.Secret), 0o600); err != nil {
			return err
		}
		args = append(args, "--client-secret-file", file)
	}
	cmd := exec.Command(clawai, append(args, server)...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	return cmd.Run()
}

// owner is an environment with a browser, and a home of its own: no sign-in of
// another scenario.
func owner(more ...string) ([]string, error) {
	dir, err := os.MkdirTemp(os.Getenv("CONFORMANCE_SCRATCH"), "home")
	if err != nil {
		return nil, err
	}
	return home(dir, append(more, "BROWSER="+os.Getenv("CONFORMANCE_SELF"), "CONFORMANCE_BROWSE=yes")...)
}

func become(cmd *exec.Cmd, env []string) int {
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// browse is the owner's browser, and the owner, who agrees. Then a minute passes at
// once: clawai opens one page a minute, and some scenarios sign in twice.
func browse(page string) int {
	if !strings.HasPrefix(page, "http") {
		return 1
	}
	opened, _ := filepath.Glob(filepath.Join(os.Getenv("CLAWAI_STATE_DIR"), "*.page"))
	for _, file := range opened {
		_ = os.Remove(file)
	}
	resp, err := http.Get(page) // it follows the redirection to the callback
	if err != nil {
		return fail(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return 0
}
