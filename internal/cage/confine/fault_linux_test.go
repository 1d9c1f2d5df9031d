package confine

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMain makes the test's program a helper in which one step fails.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "helper") {
		if at, err := strconv.Atoi(strings.TrimPrefix(os.Args[1], "helper")); err == nil {
			steps[at].build = func(*helper) error { return errors.New("made to fail") }
		}
		if version, err := strconv.Atoi(strings.TrimPrefix(os.Args[1], "helper of ")); err == nil {
			landlockVersion = func() (int, error) { return version, nil }
		}
		os.Exit(Run("test", os.Args[2:]))
	}
	os.Exit(m.Run())
}

// start runs a helper whose server makes a file, and returns what the helper reported and whether
// the server ran.
func start(t *testing.T, mode string, spec Spec, words ...string) (reports []Report, ran bool) {
	t.Helper()
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	spec.Write = append(spec.Write, dir)
	if spec.Program == "" {
		spec.Program = "/bin/sh"
	}
	text, err := EncodeSpec(&spec)
	if err != nil {
		t.Fatal(err)
	}
	if words == nil {
		words = []string{text, "sh", "-c", "echo >" + mark}
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	cmd := exec.Command("/proc/self/exe", append([]string{mode}, words...)...)
	cmd.ExtraFiles = []*os.File{theirs}
	out, err := cmd.CombinedOutput()
	_ = theirs.Close()
	for lines := json.NewDecoder(ours); lines.More(); {
		var r Report
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	_, missing := os.Stat(mark)
	t.Logf("%v %s %+v", err, out, reports)
	return reports, missing == nil
}

func TestStarts(t *testing.T) {
	reports, ran := start(t, "helper", Spec{Enforce: true, Forks: true, Network: true})
	if !ran || len(reports) != 1 || len(reports[0].Holds) != len(steps)+1 || len(reports[0].Weaker) > 0 {
		t.Errorf("ran %v: %+v", ran, reports)
	}
}

// A step that fails never lets the server start in a weaker cage, unless the policy lets it, and
// then it is said.
func TestFaults(t *testing.T) {
	for at, s := range steps {
		reports, ran := start(t, "helper"+strconv.Itoa(at), Spec{Enforce: true, Forks: true, Network: true})
		if ran || len(reports) != 1 || reports[0].Fault != s.name+": made to fail" || reports[0].Code != ExitFault {
			t.Errorf("enforce, %s: ran %v: %+v", s.name, ran, reports)
		}
		reports, ran = start(t, "helper"+strconv.Itoa(at), Spec{Forks: true, Network: true})
		if !ran || len(reports) != 1 || !slices.Equal(reports[0].Weaker, []string{s.name + ": made to fail"}) {
			t.Errorf("try, %s: ran %v: %+v", s.name, ran, reports)
		}
	}
}

// On an older kernel the server is not started at enforce, and at try it is said what is open.
func TestOldKernels(t *testing.T) {
	for version, want := range map[int]string{
		0: "this system has no Landlock", 1: "cannot keep files from being emptied", 2: "cannot keep files from being emptied", 3: "lets it end your other programs", 5: "lets it end your other programs",
	} {
		mode := "helper of " + strconv.Itoa(version)
		reports, ran := start(t, mode, Spec{Enforce: true, Forks: true})
		if ran || len(reports) != 1 || !strings.Contains(reports[0].Fault, want) {
			t.Errorf("enforce, Landlock %d: ran %v: %+v", version, ran, reports)
		}
		reports, ran = start(t, mode, Spec{Forks: true})
		if !ran || len(reports) != 1 || !strings.Contains(strings.Join(reports[0].Weaker, ";"), want) {
			t.Errorf("try, Landlock %d: ran %v: %+v", version, ran, reports)
		}
	}
	if reports, ran := start(t, "helper of 6", Spec{Enforce: true, Forks: true}); !ran || len(reports) != 1 {
		t.Errorf("Landlock 6: %+v", reports)
	}
}

func TestWrongStarts(t *testing.T) {
	spec := `{"format":2,"program":"/bin/sh"`
	for text, want := range map[string]string{
		"":                            "cannot read the cage",
		"{":                           "cannot read the cage",
		spec + `,"wall":true}`:        `unknown field "wall"`,
		`{"format":3,"program":"/x"}`: "the cage is of format 3",
		`{"format":2}`:                "names no program",
	} {
		reports, _ := start(t, "helper", Spec{}, text, "sh", "-c", "echo ran")
		if len(reports) != 1 || !strings.Contains(reports[0].Fault, want) {
			t.Errorf("%s: %+v", text, reports)
		}
	}
	if reports, _ := start(t, "helper", Spec{}, "alone"); reports != nil {
		t.Errorf("%+v", reports)
	}
	for program, code := range map[string]int{"/nowhere": 127, "/etc/passwd": 126} {
		reports, ran := start(t, "helper", Spec{Program: program, Enforce: true, Forks: true})
		if ran || len(reports) != 2 || reports[1].Code != code {
			t.Errorf("%s: %+v", program, reports)
		}
	}
}

// A helper that cannot report starts nothing: whoever started it would not know the cage.
func TestNobodyReads(t *testing.T) {
	text, err := EncodeSpec(&Spec{Program: "/bin/echo", Enforce: true, Forks: true})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/proc/self/exe", "helper", text, "echo", "ran").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "nobody reads the report") || strings.Contains(string(out), "ran\n") {
		t.Errorf("%v: %s", err, out)
	}
}
