// Package config finds clawai's folders and reads clawai's files. It trusts a file only if no user
// except the owner and root can change the file or replace the path to it. If the package does not
// trust a file or cannot read it, it returns an error and never uses a default instead. No other
// package reads configuration.
package config
