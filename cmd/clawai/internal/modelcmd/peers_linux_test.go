package modelcmd

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// What an interpreter runs is known by its file; a text in its arguments is no file.
func TestReadProgram(t *testing.T) {
	script := t.TempDir() + "/wait"
	if err := os.WriteFile(script, []byte("read line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words []string
		want  string // the last word; "" for none
	}{
		{[]string{"bash", script, "x"}, script},
		{[]string{"bash", "--norc", script}, script},
		{[]string{"bash", "-c", "read line; true", script}, ""},
		{[]string{"bash", "-s"}, ""},
	} {
		cmd := exec.Command(c.words[0], c.words[1:]...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		got := readProgram(cmd.Process.Pid)
		if c.want == "" && got != nil || c.want != "" && (len(got) != 2 || got[1] != c.want) {
			t.Errorf("%q runs %q", c.words, got)
		}
		if program := readProgram(os.Getpid()); len(program) != 1 || slices.Equal(program, got) {
			t.Errorf("%q and %q", program, got)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
	if readProgram(1<<30) != nil {
		t.Error("no process runs something")
	}
}
