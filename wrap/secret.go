package wrap

import (
	"github.com/clawai/clawai/wrap/client"
)

// Secrets are moved between files and the vault. An error refuses the edit of the server.
type Secrets interface {
	// Take gives what stands in the file for a secret from now on, as text; not take: the
	// secret stays.
	Take(t Target, s client.Secret) (text string, take bool, err error)
	// Give gives the token that stood there before; not give: the reference stays.
	Give(t Target, s client.Secret) (token string, give bool, err error)
}

// holdsSecrets says that a server behind clawai has secrets in its file.
func holdsSecrets(t Target) bool {
	if t.Entry.Wrapped == nil || t.Entry.Problem != nil {
		return false
	}
	all, err := client.Secrets(t.File.Row, t.File.src, t.Entry)
	return err == nil && len(all) > 0
}

// take puts references in the place of secrets.
func (pl Planner) take(t Target, src []byte) ([]byte, error) {
	return pl.exchange(t, src, client.Secrets, func(s client.Secret) (string, bool, error) {
		text, take, err := pl.Secrets.Take(t, s)
		return client.Quote(text), take, err
	})
}

// give puts back what references stand for.
func (pl Planner) give(t Target, src []byte) ([]byte, error) {
	return pl.exchange(t, src, client.References, func(s client.Secret) (string, bool, error) { return pl.Secrets.Give(t, s) })
}

// exchange puts other tokens in the place of the texts that find finds, where other has one.
func (pl Planner) exchange(t Target, src []byte, find func(client.Row, []byte, client.Entry) ([]client.Secret, error), other func(client.Secret) (string, bool, error)) ([]byte, error) {
	if pl.Secrets == nil {
		return src, nil
	}
	all, err := find(t.File.Row, src, t.Entry)
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	for _, s := range all {
		token, changes, err := other(s)
		if err != nil {
			return nil, err
		}
		if changes {
			tokens[s.Member] = token
		}
	}
	return client.Replace(t.File.Row, src, t.Entry, tokens)
}
