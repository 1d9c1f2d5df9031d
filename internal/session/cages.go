package session

import "github.com/clawai/clawai/internal/state/config"

// Policy returns the policy in force.
func (s *Sessions) Policy() *config.Loaded { return s.inForce() }
