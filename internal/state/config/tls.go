package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// TLS holds the owner's settings for connections to remote servers (docs/remote.md).
type TLS struct {
	All   TLSFiles
	Hosts map[string]TLSFiles // files by host, or by host:port; in lower case
}

// TLSFiles names files for connections to one host, or to all hosts.
type TLSFiles struct {
	CA   []string // certificates of authorities that are trusted in addition to the system's
	Cert string   // our own certificate; "" for none
	Key  string   // the key of our own certificate; "" for none
}

type tlsTable struct {
	CA         any                     `toml:"ca"`
	ClientCert string                  `toml:"client_cert"`
	ClientKey  string                  `toml:"client_key"`
	Host       map[string]tlsHostTable `toml:"host"`
}

type tlsHostTable struct {
	CA         any    `toml:"ca"`
	ClientCert string `toml:"client_cert"`
	ClientKey  string `toml:"client_key"`
}

// LoadTLS reads the settings for connections from config.toml. The file need not exist, and is
// refused for the same reasons as in LoadAsk. LoadTLS does not read the files that config.toml
// names.
func LoadTLS(f Folders) (t TLS, err error) {
	path := f.SettingsFile()
	src, err := ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("settings %s: %w", path, err)
	}
	file, err := readSettings(path, src)
	if err != nil {
		return t, err
	}
	lines := keyLines(src)
	all := tlsHostTable{file.TLS.CA, file.TLS.ClientCert, file.TLS.ClientKey}
	if t.All, err = all.readFiles(path); err != nil {
		return t, fmt.Errorf("%s:%d: tls: %w", path, tableLine(lines, "tls"), err)
	}
	t.Hosts = make(map[string]TLSFiles, len(file.TLS.Host))
	for _, host := range slices.Sorted(maps.Keys(file.TLS.Host)) {
		name := strings.ToLower(host)
		files, err := file.TLS.Host[host].readFiles(path)
		if err == nil {
			err = checkHost(name)
		}
		if _, twice := t.Hosts[name]; err == nil && twice {
			err = errors.New("this host is there twice")
		}
		if err != nil {
			return t, fmt.Errorf("%s:%d: tls.host.%q: %w", path, tableLine(lines, "tls.host."+host), host, err)
		}
		t.Hosts[name] = files
	}
	return t, nil
}

// checkHost returns an error unless the text has the form HOST or HOST:PORT.
func checkHost(name string) error {
	if _, err := netip.ParseAddr(name); err == nil {
		return nil
	}
	if at, err := netip.ParseAddrPort(name); err == nil && at.Port() > 0 {
		return nil
	}
	host, port, numbered := strings.Cut(name, ":")
	if host == "" || strings.ContainsAny(name, "/@*[]") || numbered && (port == "" || strings.Trim(port, "0123456789") != "") {
		return errors.New("write a host, as in [tls.host.\"mcp.example.com\"], or a host with its port")
	}
	return nil
}

// readFiles returns the files with absolute paths. file is the path of config.toml.
func (t tlsHostTable) readFiles(file string) (files TLSFiles, err error) {
	var names []string
	switch ca := t.CA.(type) {
	case nil:
	case string:
		names = []string{ca}
	case []any:
		for _, one := range ca {
			name, ok := one.(string)
			if !ok {
				return files, errors.New("ca: it is a list of files")
			}
			names = append(names, name)
		}
	default:
		return files, errors.New("ca: it is a file or a list of files")
	}
	if t.ClientKey != "" && t.ClientCert == "" {
		return files, errors.New("client_key belongs to a client_cert")
	}
	for _, name := range names {
		if name == "" {
			return files, errors.New("ca: the name of a file is empty")
		}
		path, err := ReferencePath(file, name)
		if err != nil {
			return files, err
		}
		files.CA = append(files.CA, path)
	}
	if t.ClientCert == "" {
		return files, nil
	}
	if files.Cert, err = ReferencePath(file, t.ClientCert); err != nil || t.ClientKey == "" {
		files.Key = files.Cert // one PEM file may hold the certificate and the key
		return files, err
	}
	files.Key, err = ReferencePath(file, t.ClientKey)
	return files, err
}
