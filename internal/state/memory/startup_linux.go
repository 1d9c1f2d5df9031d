package memory

import (
	"bufio"
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settleAfter is when a start is over.
const settleAfter = time.Second

// SettleSoon gives back, once, the pages of the program's own file that the start has
// brought in: code and tables that are read once, and three quarters of what an idle proxy
// is charged with. They stay in the system's cache, and one that is used again comes from there,
// also of a file that was removed meanwhile; where that is not sure, nothing is given back.
func SettleSoon() { time.AfterFunc(settleAfter, func() { releaseProgram() }) }

// remote are the file systems of which a page may not come again: the file may be replaced
// where it lies, by a machine that knows nothing of us (NFS then says ESTALE), or who serves
// it may be gone. Whoever misses a page is killed (statfs(2), SIGBUS).
var remote = []uint32{
	unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.V9FS_MAGIC,
	unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC,
}

// isLocal says that what is at a path comes from a disk of this machine.
func isLocal(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && comesAgain(uint32(fs.Type)) //nolint:gosec,unconvert // its type is the machine's, its value has 32 bits
}

func comesAgain(magic uint32) bool { return !slices.Contains(remote, magic) }

// releaseProgram says how much of the program's file it gave back, in bytes of the mappings.
func releaseProgram() (given int) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil || !isLocal("/proc/self/exe") {
		return 0
	}
	f, err := os.Open("/proc/self/smaps") // proc(5): a line for the mapping, then one for each figure
	if err != nil {
		return 0
	}
	defer f.Close()
	place := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch line := lines.Bytes(); {
		case line[0] < 'A' || line[0] > 'Z':
			if place = ""; bytes.HasSuffix(line, []byte(" "+program)) {
				place = string(line)
			}
		case place != "" && bytes.HasPrefix(line, []byte("Anonymous: ")) && bytes.HasSuffix(line, []byte(" 0 kB")):
			given += giveBack(place)
		}
	}
	return given
}

// giveBack lets go of a mapping that cannot be written to. The caller has seen that nobody
// did before either, such as the linker: what comes back is what is in the file.
func giveBack(place string) int {
	addresses, rest, _ := strings.Cut(place, " ")
	access, _, _ := strings.Cut(rest, " ")
	low, high, _ := strings.Cut(addresses, "-")
	from, err := strconv.ParseUint(low, 16, 64)
	to, err2 := strconv.ParseUint(high, 16, 64)
	if err != nil || err2 != nil || access != "r-xp" && access != "r--p" {
		return 0
	}
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED); errno != 0 {
		return 0
	}
	return int(to - from)
}
