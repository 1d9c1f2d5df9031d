// Package pinning compares what servers list with what was approved (docs/pins.md): each entry of
// each page, and again at each call. Its state is one file per server, shared by all proxies of a
// person. A project's lock file that the person trusts takes precedence over the state.
//
// A state or lock that cannot be read is an error, and after an error no entry may pass.
package pinning
