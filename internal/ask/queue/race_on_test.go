//go:build race

package queue_test

// scale makes the longest tests shorter where the detector makes them slow.
const scale = 6
