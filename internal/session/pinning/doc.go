// Package pinning holds what servers list to what was approved (docs/pins.md): entry by
// entry of each page, and at each call. What it knows lies in one file for each server,
// shared by all proxies of a person; a lock of the project that was trusted stands over it.
//
// What cannot be read is an error, and an error lets nothing pass.
package pinning
