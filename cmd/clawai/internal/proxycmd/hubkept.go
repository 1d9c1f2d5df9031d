package proxycmd

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/authcmd"
	"github.com/clawai/clawai/internal/state/catalogue"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/proxy/hub"
)

// openCatalogue returns the stored lists of a server. client describes the client, because the
// lists may depend on it. If the server cannot be started now, openCatalogue returns nil. The hub
// then tries to start the server, and reports why that failed.
func (h *hubRun) openCatalogue(s config.Upstream, client []byte) hub.Catalogue {
	if h.noteAddress(s) != nil {
		return nil
	}
	identity, used, err := ServerIdentity(h.run.spec.Folders, s)
	if err != nil {
		return nil
	}
	entry := catalogue.NewEntry(h.run.spec.Folders.State, fmt.Appendf(identity, " %q", client))
	if entry == nil {
		return nil
	}
	h.hideValues(used)
	for _, value := range slices.Concat(slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Header))) {
		// A header may have a scheme as its first word, and the secret as its second word.
		for _, word := range append(strings.Fields(value), value) {
			used = append(used, []byte(word))
		}
	}
	return &keptLists{entry, redact.NewKnown(used)}
}

// ServerIdentity returns a text with everything that clawai uses to open a server. Before the first
// request, nothing else is known that could change the lists of the server. The result used has the
// values from the vault.
func ServerIdentity(folders config.Folders, s config.Upstream) (b []byte, used [][]byte, err error) {
	if s.URL != "" {
		header, used, err := fillHeader(s)
		u, unread := url.Parse(s.URL)
		if err = errors.Join(err, unread); err != nil {
			return nil, nil, err
		}
		// The lists may depend on the person who has signed in.
		e, err := authcmd.SignInOptions(folders, u, authcmd.OpenPage).Store.Load(oauth.ServerKey(u))
		if errors.Is(err, oauth.ErrNone) {
			err = nil
		}
		if err != nil {
			return nil, nil, err
		}
		shown, err := config.LoadTLS(folders) // the lists may depend on the owner's certificate
		return fmt.Appendf(nil, "%q %q %s %q", s.URL, fmt.Sprintf("%q", header), e.Since.UTC(), shown), used, err
	}
	env, used, err := fillEnv(s)
	if err != nil {
		return nil, nil, err
	}
	// XDG_SESSION_ID is different after each login, so it must not be part of the identity.
	env = slices.DeleteFunc(slices.Sorted(slices.Values(env)), func(v string) bool { return strings.HasPrefix(v, "XDG_SESSION_ID=") })
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return nil, nil, err
	}
	b = fmt.Appendf(nil, "%q %q %q", s.Command, env, dir)
	for i, word := range s.Command { // the program and the files in its arguments
		if i == 0 && filepath.Base(word) == word {
			if word, err = exec.LookPath(word); err != nil {
				return nil, nil, err
			}
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
			b = fmt.Appendf(b, " %q %d %d", word, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b, used, nil
}

// keptLists stores the lists of a server. It does not store lists that contain a value from the
// vault, because the value may be a secret.
type keptLists struct {
	*catalogue.ListFile
	given *redact.Known
}

func (k *keptLists) Keep(text []byte) {
	if k.given.ContainsKnown(text) {
		text = nil
	}
	k.ListFile.Keep(text)
}
