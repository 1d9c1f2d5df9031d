// Package attack holds what the standing attacks share: how long one runs, and
// the seed that makes it run the same again. The attacks stand in the folders
// below, one for each consumer of what a policy judges, behind the build tag
// `attack`; docs/attack.md says how to run them.
package attack

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// Budget is how long an attack may go on: ATTACK_TIME, a duration of Go's, or
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

// Seed is where the generator of an attack begins: ATTACK_SEED, or the time.
// An attack prints it, so that a finding can be made again.
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
