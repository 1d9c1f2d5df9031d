package reading

import (
	"cmp"
	"strings"
)

// IsFile reports whether a value is a file: URI.
func IsFile(s string) bool { return len(s) > 5 && s[4] == ':' && strings.EqualFold(s[:4], "file") }

// filePath converts the path part of a file: URI. /C:/x and /C|/x become C:/x. An empty path after
// a host becomes /.
func filePath(p string) string {
	if len(p) > 2 && p[0] == '/' {
		if drive := drivePath(p[1:3]); drive != "" {
			return drive[1:] + p[3:]
		}
	}
	return cmp.Or(p, "/")
}

// bareFile returns the rest of file://~/x or file://../x, because some programs only remove
// file://. It returns "" if the URI has a host.
func bareFile(s string) string {
	if !IsFile(s) {
		return ""
	}
	if path, found := strings.CutPrefix(s[5:], "//"); found && path != "" && strings.IndexByte(".~$%", path[0]) >= 0 {
		return path
	}
	return ""
}

// drivePath looks for a drive in the place of the host, as in file://C:/x or file://C|/x (WHATWG
// URL, file host state). It returns the drive in the form in which a path begins, such as /C:, or
// "" if there is no drive.
func drivePath(head string) string {
	drive := head[max(0, len(head)-2):]
	if len(drive) == 2 && isLetter(drive[0]) && (drive[1] == ':' || drive[1] == '|') && (len(head) == 2 || head[len(head)-3] == '/') {
		return "/" + drive[:1] + ":"
	}
	return ""
}
