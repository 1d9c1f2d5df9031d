// Package egress makes the transports for all HTTP requests that clawai sends: to remote servers,
// and to the servers at which a person signs in. It reads the certificates of authorities, the
// owner's own certificates, and the proxies of the environment. Its errors name the cause.
//
// It reads no file before the first request. If a file that a setting names cannot be used, the
// request ends before a byte is sent.
package egress
