package disk

import (
	"runtime"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// syntax is the path syntax of a file system.
type syntax bool

const (
	posix   syntax = false
	windows syntax = true
)

func syntaxOf(d Disk) syntax {
	if _, virtual := d.(interface{ posix() }); virtual || runtime.GOOS != "windows" {
		return posix
	}
	return windows
}

// OnWindows reports whether a disk uses the path syntax of Windows.
func OnWindows(d Disk) bool { return d != nil && syntaxOf(d) == windows }

// isAbsolute reports whether a path has a root. On Windows a path that has a drive or a root, but
// not both, is neither absolute nor relative; splitPath refuses it.
func (s syntax) isAbsolute(path string) bool {
	if s == posix {
		return path != "" && path[0] == '/'
	}
	return path != "" && (isSlash(path[0]) || len(path) > 1 && path[1] == ':')
}

// splitPath splits an absolute path. It returns false when the meaning of the path
// depends on more than its text.
func (s syntax) splitPath(path string) (root string, names []string, ok bool) {
	if s == posix {
		names, ok = s.splitNames(path)
		return "/", names, ok && s.isAbsolute(path)
	}
	if len(path) < 3 || !isLetter(path[0]) || path[1] != ':' || !isSlash(path[2]) {
		return "", nil, false // \x, C:x, \\server\share, \\?\C:\x
	}
	names, ok = s.splitNames(path[3:])
	return strings.ToUpper(path[:1]) + `:\`, names, ok
}

// splitNames returns the names of a path, without empty names and dots. It returns false if Windows
// reads a name as another name or as a device.
func (s syntax) splitNames(path string) (names []string, ok bool) {
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || s == windows && r == '\\' }) {
		if name == "." {
			continue
		}
		if s == windows && name != ".." && isDisguised(name) {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// isDisguised reports whether Windows reads a name as another name: a stream of a file, a generated
// short name, a device, a name with a dot or blank at its end, a name with a forbidden character
// ("Naming Files, Paths, and Namespaces").
func isDisguised(name string) bool {
	if strings.ContainsAny(name, `:*?"<>|`) || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return true
	}
	if i := strings.LastIndexByte(name, '~'); i >= 0 && i+1 < len(name) && '0' <= name[i+1] && name[i+1] <= '9' {
		return true
	}
	return where.DeviceName(name)
}

func isSlash(c byte) bool  { return c == '/' || c == '\\' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
