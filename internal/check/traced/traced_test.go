package traced

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	s := Read(`12 openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3
12 openat(AT_FDCWD, "/none", O_RDONLY) = -1 ENOENT (No such file or directory)
13 openat(AT_FDCWD, "out.txt", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
rename("/a \"x\"", "/b\n") = 0
13 unlinkat(AT_FDCWD, "/c", 0) = -1 EPERM (Operation not permitted)
14 connect(20, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("1.2.3.4")}, 16) = -1 EINPROGRESS (Operation now in progress)
14 connect(20, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 ECONNREFUSED (Connection refused)
14 connect(20, {sa_family=AF_UNIX, sun_path="/run/docker.sock"}, 20) = 0
14 connect(20, {sa_family=AF_UNIX, sun_path="/run/none"}, 20) = -1 ENOENT (No such file or directory)
15 <... openat resumed>) = 5
15 +++ exited with 0 +++
`, "/work")
	for i, want := range []string{"/etc/hosts", "/a \"x\" /b\n /work/out.txt", "1.2.3.4:443 [::1]:80", "/run/docker.sock"} {
		if got := strings.Join([][]string{s.Read, s.Written, s.Hosts, s.Sockets}[i], " "); got != want {
			t.Errorf("list %d is %q, want %q", i, got, want)
		}
	}
}

// The strace that is installed writes what Read reads.
func TestRealTrace(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	dir := t.TempDir()
	out, file := filepath.Join(dir, "trace"), filepath.Join(dir, "a \"b\" ü")
	if text, err := exec.Command("strace", "-f", "-qq", "-s", "4096", "-e", "trace="+Calls, "-o", out, "--", "sh", "-c", "echo x >'"+file+"'; cat /etc/passwd '"+file+"'").CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, text) // containers may refuse it
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	s := Read(string(text), "/")
	if !slices.Contains(s.Read, "/etc/passwd") || !slices.Contains(s.Written, file) || !slices.Contains(s.Read, file) {
		t.Errorf("%+v\n%s", s, text)
	}
}

// FuzzRead: what is read is an absolute path without detours, and stands in one line.
func FuzzRead(f *testing.F) {
	f.Add("1 openat(AT_FDCWD, \"/a/../b\", O_RDONLY) = 3\n", "x")
	f.Add("connect(1, {sin_port=htons(1), sin_addr=inet_addr(\"1.2.3.4\")}) = 0", "\\")
	f.Fuzz(func(t *testing.T, text, path string) {
		s := Read(text, "/dir")
		for _, path := range append(s.Read, s.Written...) {
			if !filepath.IsAbs(path) || path != filepath.Clean(path) {
				t.Errorf("%q", path)
			}
		}
		if path == "" || strings.ContainsAny(path, "\"\\\n\r") {
			return
		}
		line := fmt.Sprintf("1 openat(AT_FDCWD, \"/%s\", O_RDONLY) = 3\n", path)
		if got := Read(line, "/").Read; len(got) != 1 && strconvSafe(path) {
			t.Errorf("%q: %q", line, got)
		}
	})
}

// strconvSafe reports whether strace would write a path without escapes.
func strconvSafe(path string) bool {
	return !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r > '~' })
}
