package config

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// Of approvals that are given at the same moment, by several processes, none is lost.
func TestApprovalsAtOnce(t *testing.T) {
	state := folder(t)
	const many = 20
	path := func(n int) string { return fmt.Sprintf("/p/%d/.clawai/policy.toml", n) }
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			if err := TrustProject(state, path(n), []byte(allow), time.Now()); err != nil {
				t.Error(err)
			}
			if err := ConfirmPolicy(state, path(n), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	known, err := ListProjects(state)
	if err != nil || len(known) != many {
		t.Errorf("%d of %d are trusted, %v", len(known), many, err)
	}
	if confirmed, _ := readConfirmations(state); len(confirmed) != many {
		t.Errorf("%d of %d are confirmed", len(confirmed), many)
	}
}
