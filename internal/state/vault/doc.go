// Package vault keeps the secrets that servers need, so that they need not be in the clients'
// configuration files. A client's file contains only a reference to a secret. When the server is
// started, the value is put into the server's environment or into a header. Values are in the
// system's keychain, or in an encrypted file if the owner chooses so.
package vault
