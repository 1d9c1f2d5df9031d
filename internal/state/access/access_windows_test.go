package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/clawai/clawai/internal/testing/accesstest"
)

// TestOthersAreFound reads lists as Windows writes them down (SDDL).
func TestOthersAreFound(t *testing.T) {
	me, err := windows.StringToSid("S-1-5-21-1-2-3-1001")
	if err != nil {
		t.Fatal(err)
	}
	const mine = "(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;S-1-5-21-1-2-3-1001)"
	for name, c := range map[string]struct {
		list                string
		change, write, open int // how many others
	}{
		"a profile":                {"D:P" + mine, 0, 0, 0},
		"nobody at all":            {"D:P", 0, 0, 0},
		"read by everybody":        {"D:" + mine + "(A;;FR;;;WD)", 0, 0, 1},
		"run by everybody":         {"D:" + mine + "(A;;FX;;;WD)", 0, 0, 0},
		"written by users":         {"D:" + mine + "(A;;0x1301bf;;;BU)", 1, 1, 1},
		"appended to by all":       {"D:" + mine + "(A;;0x4;;;AU)", 1, 1, 1},
		"another user's":           {"D:" + mine + "(A;;FA;;;S-1-5-21-1-2-3-1002)", 1, 1, 1},
		"its rights are another's": {"D:" + mine + "(A;;WD;;;BU)", 1, 1, 1},
		"for what comes below":     {"D:" + mine + "(A;OICIIO;FA;;;WD)", 0, 0, 0},
		"inherited":                {"D:" + mine + "(A;OICIID;FA;;;WD)", 1, 1, 1},
		"denied to everybody":      {"D:(D;;FA;;;WD)" + mine, 0, 0, 0},
		"denied, and given":        {"D:(D;;FA;;;WD)(A;;FA;;;WD)" + mine, 1, 1, 1},
		"its owner's":              {"D:" + mine + "(A;OICIIO;FA;;;CO)(A;;FA;;;OW)", 0, 0, 0},
		"Windows' own":             {"D:(A;;FA;;;" + trustedInstaller + ")", 0, 0, 0},
		"two others":               {"D:(A;;FA;;;WD)(A;;FA;;;BU)", 2, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			sd, err := windows.SecurityDescriptorFromString(c.list)
			if err != nil {
				t.Fatal(err)
			}
			acl, _, err := sd.DACL()
			if err != nil {
				t.Fatal(err)
			}
			for what, want := range map[windows.ACCESS_MASK]int{change: c.change, change | deleteChild: c.write, opened: c.open} {
				got, err := listOthers(acl, what, me)
				if err != nil || len(got) != want {
					t.Errorf("%#x: %q, %v, want %d", uint32(what), got, err, want)
				}
			}
		})
	}
	if got, err := listOthers(nil, opened, me); len(got) != 1 || err != nil {
		t.Errorf("no list lets everybody in: %q, %v", got, err)
	}
}

// TestFolders: whoever may only add to a folder changes nothing that lies in it.
func TestFolders(t *testing.T) {
	me, err := user()
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]int{
		"D:(A;;0x6;;;WD)":  0, // files and folders may be added, as in C:\
		"D:(A;;0x40;;;WD)": 1, // what others made may be deleted
		"D:(A;;SD;;;WD)":   1,
	} {
		sd, err := windows.SecurityDescriptorFromString(list)
		if err != nil {
			t.Fatal(err)
		}
		acl, _, err := sd.DACL()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := listOthers(acl, replace|deleteChild, me); len(got) != want || err != nil {
			t.Errorf("%s: %q, %v, want %d", list, got, err, want)
		}
	}
}

// TestOthersAreRefused asks a real file; Wine keeps of a list what mode bits can say.
func TestOthersAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(path, []byte("# end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	checks := func() []error { return []error{CheckChange(path, fi), CheckWrite(path)} }
	if err := CheckOpen(path, fi); err != nil {
		t.Error(err)
	}
	if err := accesstest.Grant(path, windows.WinWorldSid, windows.FILE_GENERIC_READ); err != nil {
		t.Fatal(err)
	}
	for _, err := range checks() {
		if err != nil {
			t.Error(err)
		}
	}
	if err := CheckOpen(path, fi); err == nil || !strings.Contains(err.Error(), "others can open it") {
		t.Errorf("everybody can read it: %v", err)
	}
	if err := accesstest.Grant(path, windows.WinWorldSid, windows.FILE_GENERIC_READ|windows.FILE_GENERIC_WRITE); err != nil {
		t.Fatal(err)
	}
	for _, err := range append(checks(), CheckOpen(path, fi)) {
		if err == nil || !strings.Contains(err.Error(), "others can") || !strings.Contains(err.Error(), `Everyone); run: icacls`) {
			t.Errorf("everybody can write it: %v", err)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	if err := CheckWrite(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("nobody knows who may write it")
	}
}
