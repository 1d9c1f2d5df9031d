package where

import "strings"

// DeviceName reports whether Windows reads a name as a device in every folder: nul.txt, COM1
// ("Naming Files, Paths, and Namespaces"). The text after the first dot or colon does not matter.
// CONIN$, CONOUT$ and the ports with the number 0 are devices too, because some versions of
// Windows reserve them.
func DeviceName(name string) bool {
	if i := strings.IndexAny(name, ".:"); i >= 0 {
		name = name[:i]
	}
	name = strings.ToUpper(strings.TrimRight(name, " "))
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	rest, port := strings.CutPrefix(name, "COM")
	if !port {
		rest, port = strings.CutPrefix(name, "LPT")
	}
	return port && (len(rest) == 1 && '0' <= rest[0] && rest[0] <= '9' || rest == "¹" || rest == "²" || rest == "³")
}
