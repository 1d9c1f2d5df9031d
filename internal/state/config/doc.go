// Package config finds clawai's folders and reads its files. It trusts them only if nobody but
// their owner and root can change them or replace the path to them. Only commands import it; no
// other package reads configuration by itself. It must never use a default when a file is in
// doubt.
package config
