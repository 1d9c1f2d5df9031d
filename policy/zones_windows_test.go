package policy_test

// Windows has no database of time zones; cmd/clawai brings one of its own.
import _ "time/tzdata"
