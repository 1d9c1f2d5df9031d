package memory

import (
	"crypto/sha256"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// ofFiles is how much of this process is pages of files, in KiB.
func ofFiles(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("no RssFile in %s", status)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

var table = func() (t [256]byte) { // what was written to must be as it was
	for i := range t {
		t[i] = byte(i * 7)
	}
	return t
}()

// What the start has brought in is given back, and the program goes on with all it had.
func TestSettleGivesBackTheFile(t *testing.T) {
	if !isLocal("/proc/self/exe") {
		t.Skip("the test runs from a file system of which nothing is given back")
	}
	want := sha256.Sum256(table[:])
	before := ofFiles(t)
	given := releaseProgram()
	after := ofFiles(t)
	if given < 1<<20 || after >= before {
		t.Errorf("%d bytes of mappings given back; %d KiB of files before, %d after", given, before, after)
	}
	if sha256.Sum256(table[:]) != want {
		t.Error("a variable has changed")
	}
}

// Nothing that can be written to is let go, whoever asks.
func TestGiveBackLeavesWhatIsWritten(t *testing.T) {
	for _, place := range []string{"", "x", "c000000000-c000400000 rw-p 00000000 00:00 0", "c000000000-c000400000 r-xs 0 0:0 0 /x", "zz-c000400000 r-xp 0", "1000 r-xp 0", "1001-2000 r-xp 0"} {
		if n := releaseMapping(place); n != 0 {
			t.Errorf("%q: %d bytes", place, n)
		}
	}
}

// Where a file may be replaced under us, what is in memory stays there.
func TestPagesThatMayNotComeAgainStay(t *testing.T) {
	for name, tt := range map[string]struct {
		magic uint32 // statfs(2)
		comes bool
	}{
		"ext4": {0xef53, true}, "tmpfs": {0x01021994, true}, "overlay": {0x794c7630, true}, "xfs": {0x58465342, true},
		"nfs": {0x6969, false}, "cifs": {0xff534d42, false}, "smb2": {0xfe534d42, false}, "9p": {0x01021997, false}, "fuse": {0x65735546, false},
	} {
		if isLocalType(tt.magic) != tt.comes {
			t.Errorf("%s: comes again %v", name, !tt.comes)
		}
	}
	if isLocal("/nowhere/at/all") {
		t.Error("of what cannot be asked about it is not known")
	}
}
