package client

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// compareVersion returns a warning if the payload names a later version of the client than the row
// does. Otherwise it returns "".
func (r *Row) compareVersion(root object) string {
	version, _, err := root.readText(r.Version)
	seen, now := versionNumbers(r.Seen), versionNumbers(version)
	if err != nil || slices.Compare(now[:min(len(now), len(seen))], seen) <= 0 {
		return ""
	}
	return fmt.Sprintf("%s was seen at %s, this is %s: names of events, tools and arguments may differ", r.ID, r.Seen, shortenText(version))
}

// versionNumbers returns the numbers at the beginning of a version.
func versionNumbers(version string) (all []int) {
	for part := range strings.SplitSeq(version, ".") {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			return all
		}
		if all = append(all, n); digits != part {
			return all
		}
	}
	return all
}
