package client

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/testing/slow"
)

// Other hooks and settings round about, in every spelling, stay byte for byte; nothing of
// ours stays behind.
func TestHooksComeBackByteForByte(t *testing.T) {
	slow.Test(t)
	slow.Checks(t, 30, 2500)
	for _, row := range hookRows(t) {
		if len(row.Through) > 0 || row.Format == Script || row.Format == TOML {
			continue
		}
		t.Run(row.Client, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkHookRoundTrip(t, row, hookSample(t, row)) })
		})
	}
}

func checkHookRoundTrip(t *rapid.T, row HookRow, src string) {
	events := row.EventNames()
	before, err := ReadHooks(row, []byte(src), events, hookProgram)
	if err != nil || len(before.Ours) > 0 {
		t.Fatalf("read: %v, %+v\n%s", err, before, src)
	}
	after, err := PutHooks(row, []byte(src), events, hookProgram)
	if err != nil {
		t.Fatalf("put: %v\n%s", err, src)
	}
	h, err := ReadHooks(row, after, events, hookProgram)
	if err != nil || len(h.Ours) != len(events) || len(h.Differs) > 0 {
		t.Fatalf("put, and read: %v, %+v\n%s\n%s", err, h, src, after)
	}
	if !sameOthers(before.Others, h.Others) {
		t.Fatalf("others' hooks were\n%+v\nand are\n%+v\n%s", before.Others, h.Others, after)
	}
	again, err := PutHooks(row, after, events, hookProgram)
	if err != nil || string(again) != string(after) {
		t.Fatalf("put twice: %v\n%s\n%s", err, after, again)
	}
	moved, err := PutHooks(row, after, events, HookStart{Path: "/else where/clawai-hook", Observe: true})
	if err != nil {
		t.Fatalf("put with another path: %v\n%s", err, after)
	}
	for _, text := range [][]byte{after, moved} {
		back, err := TakeHooks(row, text, events)
		if err != nil || string(back) != src {
			t.Fatalf("take: %v\n%q\n%q\n%q", err, src, text, back)
		}
	}
}

// sameOthers compares all but lines; above all the places, by which Codex knows a hook.
func sameOthers(a, b []Hook) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Event != b[i].Event || a[i].Command != b[i].Command || a[i].Group != b[i].Group || a[i].At != b[i].At {
			return false
		}
	}
	return true
}

// hookSample draws a settings file: other members, other events, other hooks of ours.
func hookSample(t *rapid.T, row HookRow) string {
	g := newGenerator(t, row.Format)
	other := func(event string) string {
		leaf := g.brackets("{}", g.shuffle([]string{
			g.inner("type", `"command"`), g.inner("command", g.str(pick(g, nastyWords...)+"x")), g.inner("timeout", "5"),
		}))
		parts := []string{g.inner("matcher", g.str(pick(g, nastyWords...)))}
		if row.EventKey != "" {
			parts = append(parts, g.inner(row.EventKey, quoteText(event)))
		}
		if row.Inner == "" {
			return g.brackets("{}", append(parts, g.inner("command", g.str("x"))))
		}
		return g.brackets("{}", g.shuffle(append(parts, g.inner(row.Inner, g.brackets("[]", many(g, leaf))))))
	}
	var members []string
	for _, event := range append(row.EventNames(), "Stop", "é") {
		if g.chance(2) {
			members = append(members, g.member(event, g.brackets("[]", many(g, other(event)))))
		}
	}
	value := g.brackets("{}", members)
	if row.EventKey != "" {
		value = g.brackets("[]", many(g, other("PostFileSave")))
	}
	members = nil
	if row.Version != "" {
		members = append(members, g.member("version", row.Version))
	}
	for _, name := range []string{"model", "env", "permissions"} {
		if g.chance(2) {
			members = append(members, g.member(name, g.junk(2)))
		}
	}
	if !g.chance(4) {
		members = append(members, g.member(row.List[0], value))
	}
	text := g.brackets("{}", g.shuffle(members))
	bom := ""
	if g.chance(6) {
		bom = "\ufeff"
	}
	return bom + g.space() + text + g.space()
}

func many(g *generator, text string) (all []string) {
	for range rapid.IntRange(0, 2).Draw(g.t, "many") {
		all = append(all, text)
	}
	return all
}
