// Package egress makes the transports of all HTTP that clawai sends: to remote servers and to where
// one signs in. It reads the certificates of authorities, the owner's own certificates, and the
// proxies of the environment, and its errors say what is at fault.
//
// Nothing is read before the first request. A file that is named and cannot be used ends the
// request before a byte is sent.
package egress
