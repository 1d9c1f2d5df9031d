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

// settleAfter is the time after which the start of the program is certainly over.
const settleAfter = time.Second

// SettleSoon releases the pages of the program file that only the start needs: code and tables that
// are used only once. The system counts them as memory of the process, and in an idle proxy they
// are three quarters of its memory. The pages stay in the system's cache. If the program uses a
// page again, the system reads it from the cache or from the file, even if the file was removed
// meanwhile. If it is not certain that the system can do this, SettleSoon releases nothing.
func SettleSoon() { time.AfterFunc(settleAfter, func() { releaseProgram() }) }

// remote holds the types of file systems on which a released page may be lost. Another machine may
// replace the file in place (NFS then returns ESTALE), or the file server may be gone. The system
// kills a process that needs a lost page (statfs(2), SIGBUS).
var remote = []uint32{
	unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.V9FS_MAGIC,
	unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC,
}

// isLocal reports whether the file at a path is on a disk of this machine.
func isLocal(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && isLocalType(uint32(fs.Type)) //nolint:gosec,unconvert // the Go type depends on the machine, but the values have 32 bits
}

func isLocalType(magic uint32) bool { return !slices.Contains(remote, magic) }

// releaseProgram returns how many bytes of the program's mappings it released.
func releaseProgram() (given int) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil || !isLocal("/proc/self/exe") {
		return 0
	}
	f, err := os.Open("/proc/self/smaps") // proc(5): a line for each mapping, then a line for each of its figures
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
			given += releaseMapping(place)
		}
	}
	return given
}

// releaseMapping releases a mapping that is not writable. It returns the size of the mapping in
// bytes, or 0 if it did not release the mapping. place is the first line of the mapping in
// /proc/self/smaps. The caller has checked that the mapping was never written to, for example by
// the dynamic linker. So the system can read the pages from the file again.
func releaseMapping(place string) int {
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
