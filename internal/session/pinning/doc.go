// Package pinning compares what servers list with what was approved (docs/pins.md): each entry of
// each page, and again at each call. Its state is one file per server, shared by all proxies of a
// person. The project's lock, once trusted, takes precedence.
//
// If something cannot be read, that is an error, and after an error nothing passes.
package pinning
