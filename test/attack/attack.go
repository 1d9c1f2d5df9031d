// Package attack contains the common settings of the attack tests: the duration, and the seed with
// which a person can repeat a run. The attacks are in the folders below this one. Each folder
// attacks one part of clawai that uses policy decisions, and has the build tag `attack`.
// docs/attack.md explains how to run the attacks.
package attack

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// Budget returns the duration of one attack. It is the value of ATTACK_TIME, a Go duration, or 30
// seconds.
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

// Seed returns the seed of an attack's random generator. It is the value of ATTACK_SEED. Without
// this variable, Seed makes it from the time. An attack prints its seed, so that a person can
// repeat the run.
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
