// Package vault keeps the secrets that servers need out of the files that clients start
// them by: a file holds a reference, and the value reaches the server's environment or a
// header when it is started. Values are in the system's keychain, or in an encrypted file
// where their owner says so.
package vault
