// Package config finds clawai's folders and reads its files, and trusts them
// only when nobody but their owner and root can change them or lead us to
// others. Only commands import it; no room reads configuration by itself. It
// must never answer doubt about a file with a default.
package config
