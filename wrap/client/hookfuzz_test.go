package client

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever a file holds: what is put into it comes out again, and the file is what it was;
// or it is refused. Only what held ours before may come back without that.
func FuzzHooks(f *testing.F) {
	rows, err := HookRows()
	if err != nil {
		f.Fatal(err)
	}
	for i, row := range rows {
		for _, name := range []string{"before.json", "after.json"} {
			if src, err := os.ReadFile(filepath.Join("testdata", "hooks", row.Client, name)); err == nil {
				f.Add(i, src)
			}
		}
	}
	f.Add(0, []byte(`{"hooks":{"PreToolUse":[ {"hooks":[ {"command":"/x/clawai-hook"} ]} ]}}`))
	f.Add(2, []byte("{ // c\n \"hooks\" : { /* d */ } , }"))
	f.Fuzz(func(t *testing.T, which int, src []byte) {
		row := rows[max(0, which%len(rows))]
		if len(row.Through) > 0 || row.Format == Script || row.Format == TOML {
			return
		}
		events := row.EventNames()
		before, err := ReadHooks(row, src, events, hookProgram)
		if err != nil {
			if after, err := PutHooks(row, src, events, hookProgram); err == nil {
				t.Fatalf("unreadable, and written:\n%s\n%s", src, after)
			}
			return
		}
		after, err := PutHooks(row, src, events, hookProgram)
		if err != nil {
			t.Fatalf("put: %v\n%s", err, src)
		}
		h, err := ReadHooks(row, after, events, hookProgram)
		if err != nil || len(h.Differs) > 0 || len(h.Ours) != len(events) || !sameOthers(shiftless(before.Others), shiftless(h.Others)) {
			t.Fatalf("put, and read: %v, %+v\n%s\n%s", err, h, src, after)
		}
		back, err := TakeHooks(row, after, events)
		if err != nil {
			t.Fatalf("take: %v\n%s", err, after)
		}
		if len(before.Ours) == 0 && string(back) != string(src) {
			t.Fatalf("came back as\n%q\nwas\n%q\nbetween\n%q", back, src, after)
		}
		if back == nil {
			return
		}
		if left, err := ReadHooks(row, back, events, hookProgram); err != nil || len(left.Ours) > 0 {
			t.Fatalf("left: %v, %+v\n%s", err, left.Ours, back)
		}
		MaskHooks(row, src)
	})
}

// shiftless leaves the places out: an entry of ours that is put right may make room.
func shiftless(hooks []Hook) (all []Hook) {
	for _, h := range hooks {
		h.Group, h.At = 0, 0
		all = append(all, h)
	}
	return all
}
