package client

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Hooks go into TOML and come out of it again byte for byte, whatever stands before them.
func TestTOMLHooksComeBackByteForByte(t *testing.T) {
	row := hookRow(t, "kimi")
	events := row.EventNames()
	pieces := []string{"a = 1", "# a comment", "", "[t]\nb = \"x\" # why", "[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"", "[[hooks]] # mine\ncommand = '''\n[[hooks]]\n'''\nevent = \"Stop\"",
		"[models.\"m\"]\nc = [1,\n 2]"}
	rapid.Check(t, func(t *rapid.T) {
		order, used := rapid.SliceOfN(rapid.IntRange(0, len(pieces)-1), 0, 6).Draw(t, "pieces"), map[int]bool{}
		var parts []string
		for _, i := range order {
			if used[i] && i != 1 && i != 2 && i != 4 && i != 5 || i == 0 && len(parts) > 0 {
				continue
			}
			used[i] = true
			parts = append(parts, pieces[i])
		}
		if rapid.Bool().Draw(t, "an empty list") && !used[4] && !used[5] {
			parts = append([]string{"hooks = [] "}, parts...)
		}
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		src := strings.ReplaceAll(strings.Join(parts, "\n"), "\n", end)
		if rapid.Bool().Draw(t, "ends") && src != "" {
			src += end
		}
		start := HookStart{Path: rapid.SampledFrom([]string{"/usr/local/bin/clawai-hook", "/opt/a b/clawai-hook"}).Draw(t, "path"), Observe: rapid.Bool().Draw(t, "observe")}
		put, err := PutHooks(row, []byte(src), events, start)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		h, err := ReadHooks(row, put, events, start)
		if err != nil || len(h.Ours) != len(events) || len(h.Differs) > 0 || len(h.Others) != strings.Count(src, "event = ") || h.Observe != start.Observe {
			t.Fatalf("%v %+v\n%s", err, h, put)
		}
		if again, err := PutHooks(row, put, events, start); err != nil || !bytes.Equal(again, put) {
			t.Fatalf("%v: a second time changes it\n%s", err, again)
		}
		moved := HookStart{Path: "/elsewhere/clawai-hook"}
		other, err := PutHooks(row, put, events, moved)
		if h, _ := ReadHooks(row, other, events, moved); err != nil || len(h.Differs) > 0 || len(h.Ours) != len(events) {
			t.Fatalf("%v %v\n%s", err, h.Differs, other)
		}
		for _, text := range [][]byte{put, other} {
			if back, err := TakeHooks(row, text, events); err != nil || back == nil || string(back) != src {
				t.Fatalf("%v: %q came back as %q", err, src, back)
			}
		}
	})
}

// What is not written as tables is refused, and an entry that somebody has changed goes
// without a neighbour.
func TestTOMLHooksBesideOthers(t *testing.T) {
	row := hookRow(t, "kimi")
	for _, src := range []string{"hooks = [{ event = \"Stop\", command = \"true\" }]\n", "hooks = 1\n", "[hooks]\na = 1\n", "a = ["} {
		if out, err := PutHooks(row, []byte(src), row.EventNames(), hookProgram); err == nil {
			t.Errorf("%q became %q", src, out)
		}
	}
	const ours = "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"exec /old/clawai-hook kimi-code\"\ntimeout = 5\n"
	src := "a = 1\n" + ours + "[t]\nb = 2\n"
	h, err := ReadHooks(row, []byte(src), row.EventNames(), hookProgram)
	if err != nil || len(h.Differs) != 3 {
		t.Errorf("%v %q", err, h.Differs)
	}
	if back, err := TakeHooks(row, []byte(src), row.EventNames()); err != nil || string(back) != "a = 1\n[t]\nb = 2\n" {
		t.Errorf("%v %q", err, back)
	}
	if text := string(MaskHooks(row, []byte("key = \"hunter2\"\n"+ours))); strings.Contains(text, "hunter2") || !strings.Contains(text, "clawai-hook") {
		t.Errorf("shown as %s", text)
	}
}
