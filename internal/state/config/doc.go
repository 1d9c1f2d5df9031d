// Package config finds clawai's folders and reads clawai's files. It trusts a file only if nobody
// but its owner and root can change the file or replace the path to it. It must never use a default
// in place of a file that it does not trust or cannot read. No other package reads configuration.
package config
