// Package pinning compares the lists of servers with the approved entries (docs/pins.md). It
// compares each entry of each page of a list, and compares again at each call. Its state is one
// file per server, shared by all proxies of a person. If a person trusts a project's lock file, the
// lock takes precedence over the state.
//
// A state or lock that cannot be read is an error. After an error no entry may pass.
package pinning
