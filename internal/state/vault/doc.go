// Package vault keeps the secrets that servers need out of the clients' configuration files. A
// file contains a reference, and the value is put into the server's environment or a header when
// the server is started. Values are in the system's keychain, or in an encrypted file if the owner
// chooses so.
package vault
