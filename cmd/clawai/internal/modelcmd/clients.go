package modelcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

// findAddress returns the catalogue's row of the client that this command starts. It searches by
// id, or by program if id is "".
func findAddress(id, program string) (*client.ModelRow, error) {
	rows, err := client.ModelRows()
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	var ids []string
	for _, row := range rows {
		if len(row.Programs) == 0 {
			continue
		}
		if id == row.Word || id == row.Client || id == "" && (slices.Contains(row.Programs, name) || name == row.Word) {
			return &row, nil
		}
		ids = append(ids, row.Word)
	}
	if id != "" {
		return nil, fmt.Errorf("no client is called %q here; the clients are %s", id, strings.Join(ids, ", "))
	}
	return nil, fmt.Errorf("which client is %s? Name it: --client %s", name, strings.Join(ids, " | --client "))
}

// leadClient returns words for the client's command line and a variable for its environment. With
// them, the client uses our address instead of the service's address. The result to is the
// service's address.
func leadClient(row *client.ModelRow, ours, upstream string) (words, env []string, to *url.URL, err error) {
	for _, name := range row.Elsewhere {
		if v := os.Getenv(name); v != "" && v != "0" && v != "false" {
			return nil, nil, nil, fmt.Errorf("%s is set, so %s uses a service that clawai llm-proxy does not stand before; start the client without clawai llm-proxy, or unset it", name, row.Word)
		}
	}
	own := row.Upstream
	if row.Variable == "" {
		var a client.ModelAddress
		if a, own, err = readAddress(row); err != nil {
			return nil, nil, nil, err
		}
		words = []string{"-c", fmt.Sprintf("%s=%q", strings.Join(a.KeyPath, "."), ours)}
	} else {
		if v := os.Getenv(row.Variable); v != "" {
			own = v
		} else if _, led, err := readAddress(row); err == nil && led != "" {
			own = led
		}
		env = []string{row.Variable + "=" + ours}
	}
	if upstream != "" {
		own = upstream
	}
	if own == "" {
		return nil, nil, nil, fmt.Errorf("where is the service of %s? Set %s as you do for the client, or write --upstream URL", row.Word, row.Variable)
	}
	to, err = client.ParseService(own)
	return words, env, to, err
}

// readAddress finds the service's address in the client's own file, and returns where it is. The
// result service is the address of the real service: the one that the file had before clawai wrap
// --llm, or else the client's default.
func readAddress(row *client.ModelRow) (a client.ModelAddress, service string, err error) {
	env, err := wrap.SystemEnv()
	if err != nil {
		return a, "", err
	}
	path, exists := row.FindFile(env)
	var src []byte
	if exists {
		src, err = os.ReadFile(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return a, "", fmt.Errorf("%s: %w", path, err)
	}
	all, err := client.ReadAddresses(*row, src)
	if err != nil {
		return a, "", fmt.Errorf("%s: %w", path, err)
	}
	if len(all) == 0 {
		return a, "", fmt.Errorf("%s names no service", path)
	}
	a = all[0]
	for _, key := range a.KeyPath {
		if strings.ContainsAny(key, ".\"'=") {
			return a, "", fmt.Errorf("%s: the provider %q cannot be named on a command line", path, key)
		}
	}
	service = a.Text
	if a.Ours != nil {
		service = a.Ours.Service(*row)
	}
	if service == "" {
		service = row.Upstream
	}
	return a, service, nil
}
