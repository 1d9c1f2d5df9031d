package cage

import "os"

// readMounts returns what is mounted. Where /proc is missing, no sandbox is built either.
func readMounts() []mount {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	return append([]mount{}, parseMounts(string(text))...)
}
