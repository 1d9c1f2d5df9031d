package disk

import (
	"slices"
	"testing"
)

// TestWindows holds what Windows calls a plain path, on every system.
func TestWindows(t *testing.T) {
	for path, want := range map[string][]string{
		`C:\Users\me\x`:     {`C:\`, "Users", "me", "x"},
		`c:/Users//me/./x`:  {`C:\`, "Users", "me", "x"},
		`C:\`:               {`C:\`},
		`C:\a\..\b`:         {`C:\`, "a", "..", "b"},
		`C:\com10\lpt\nula`: {`C:\`, "com10", "lpt", "nula"},
		`C:\x~y`:            {`C:\`, "x~y"},
	} {
		root, names, ok := windows.splitPath(path)
		if got := append([]string{root}, names...); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", path, got, ok)
		}
	}
	for _, path := range []string{
		`C:x`, `C:`, `\x`, `/x`, `\\server\share\x`, `//server/share`, `\\?\C:\x`, `\\.\C:\x`, `\\?\GLOBALROOT\Device\x`, `\\.\pipe\x`, `1:\x`, `x`,
		`C:\x:stream`, `C:\x::$DATA`, `C:\dir:$i30:$INDEX_ALLOCATION\x`, `C:\PROGRA~1\x`, `C:\a~12.txt`, `C:\x.`, `C:\x \y`, `C:\...\x`,
		`C:\CON`, `C:\nul`, `C:\aux.txt`, `C:\prn .x`, `C:\com1`, `C:\LPT9.log`, `C:\COM¹`, `C:\conin$`, `C:\a*`, `C:\a?`, `C:\a|b`, `C:\a<b`,
	} {
		if root, names, ok := windows.splitPath(path); ok {
			t.Errorf("%s is %s %q", path, root, names)
		}
	}
	for path, want := range map[string]bool{`C:\x`: true, `C:x`: true, `\x`: true, `/x`: true, `x`: false, ``: false, `x\y`: false} {
		if windows.isAbsolute(path) != want {
			t.Errorf("%s absolute: %v", path, !want)
		}
	}
	if p := (location{{name: `C:\`}, {name: "a"}, {name: "b"}}).String(); p != `C:\a\b` {
		t.Error(p)
	}
}
