//go:build !race

package cover_test

const raceDetector = false
