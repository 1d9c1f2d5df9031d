//go:build !race

package queue_test

const scale = 1
