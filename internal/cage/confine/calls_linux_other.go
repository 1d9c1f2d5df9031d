//go:build linux && !amd64 && !arm64

package confine

// There is no filter for this processor.
const (
	architecture = 0
	foreignCalls = 0
)

var callNumbers, olderCalls [0]callNumber
