//go:build unix && !linux

package access

// privateGroup returns false: these systems have no private groups, but put all users into one
// group.
func privateGroup(string, uint32) bool { return false }
