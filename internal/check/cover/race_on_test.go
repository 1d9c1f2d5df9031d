//go:build race

package cover_test

// The race detector multiplies the time of proofs; small policies show it the same.
const raceDetector = true
