// Package attack holds the common settings of the attack tests: the duration,
// and the seed that repeats a run. The attacks are in the folders below, one
// for each consumer of policy decisions, under the build tag `attack`.
// docs/attack.md explains how to run them.
package attack

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// Budget returns the duration of an attack: ATTACK_TIME, as a Go duration, or
// half a minute.
func Budget() (time.Duration, error) {
	text, set := os.LookupEnv("ATTACK_TIME")
	if !set {
		return 30 * time.Second, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("ATTACK_TIME=%q: want a duration such as 30s or 2h", text)
	}
	return d, nil
}

// Seed returns the seed of an attack's generator: ATTACK_SEED, or the time. An
// attack prints its seed, so that a finding can be reproduced.
func Seed() (uint64, error) {
	text, set := os.LookupEnv("ATTACK_SEED")
	if !set {
		return uint64(time.Now().UnixNano()), nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("ATTACK_SEED=%q: want a whole number", text)
	}
	return seed, nil
}
