package wrap

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap/client"
)

// Routes that cannot be read lead nobody anywhere, and the error says what to do.
func TestModelRoutesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	none, err := ReadModelRoutes(dir)
	if err != nil || len(none.Upstreams) != 0 {
		t.Fatal(none, err)
	}
	r := ModelRoutes{Listen: DefaultModelListen, Secret: strings.Repeat("s", 26), Upstreams: map[string]string{"codex": "https://x.example"}}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	path := ModelRoutesFile(dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, whole[:20], []byte("{}"), []byte("[]")} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadModelRoutes(dir); err == nil || !strings.Contains(err.Error(), "remove it and run: clawai wrap --llm --all") {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

// A client whose address changed, whose route is not known, or that reads another file in this folder, has
// drifted; a service that would get keys in clear text is refused, and so is a file that others closed.
func TestModelStates(t *testing.T) {
	home := t.TempDir()
	e, err := SystemEnv()
	if err != nil {
		t.Fatal(err)
	}
	e.Home, e.Dir, e.Getenv = home, filepath.Join(home, "p"), func(string) string { return "" }
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &ModelRoutes{Listen: DefaultModelListen, Secret: strings.Repeat("s", 26), Upstreams: map[string]string{}}
	find := func() ModelFile {
		t.Helper()
		rows, err := client.ModelRows()
		if err != nil {
			t.Fatal(err)
		}
		f := FindModelFiles(e, rows)
		return f[slices.IndexFunc(f, func(f ModelFile) bool { return f.Row.Client == "gemini" })]
	}
	write(".gemini/.env", "GOOGLE_GEMINI_BASE_URL=http://gateway.example\n")
	write(".gemini/tmp/x", "")
	if _, errs := r.PlanModels(Wrap, []ModelFile{find()}, nil); len(errs) != 1 || !strings.Contains(errs[0].Error(), "clear text") {
		t.Error(errs)
	}
	write(".gemini/.env", "A=b\n")
	changes, errs := r.PlanModels(Wrap, []ModelFile{find()}, nil)
	if len(errs) != 0 || len(changes) != 1 {
		t.Fatal(changes, errs)
	}
	check := func(want ModelState, words string) {
		t.Helper()
		if state, why := r.ModelState(find()); state != want || !strings.Contains(why, words) {
			t.Errorf("%s: %s, not %s: %s", state, why, want, words)
		}
	}
	check(ModelDrifted, "something has changed the address") // the route is there, and the file is not written yet
	write(".gemini/.env", string(changes[0].After))
	check(ModelLed, "")
	write("p/.env", "A=b\n")
	check(ModelDrifted, "in this folder "+filepath.Join(home, "p", ".env")+" counts instead")
	if err := os.Remove(filepath.Join(home, "p", ".env")); err != nil {
		t.Fatal(err)
	}
	was := r.Secret
	r.Secret = strings.Repeat("t", 26)
	check(ModelDrifted, "not that of your proxy")
	r.Secret, r.Upstreams = was, map[string]string{}
	check(ModelDrifted, "does not know where to lead it")
	write(".env", "A=b\n") // of the home itself: the other is read first
	r.Upstreams = map[string]string{"gemini": "https://x.example"}
	check(ModelLed, "")
	write(".gemini/.env", "A='b\n")
	check(ModelUnreadable, "does not end on its line")
}
