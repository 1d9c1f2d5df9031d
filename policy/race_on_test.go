//go:build race

package policy

// raceEnabled says that sync.Pool forgets at random, to find races.
const raceEnabled = true
