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
	if pl.Secrets == nil {
		return src, nil
	}
	all, err := client.Secrets(t.File.Row, src, t.Entry)
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	for _, s := range all {
		text, take, err := pl.Secrets.Take(t, s)
		if err != nil {
			return nil, err
		}
		if take {
			tokens[s.Member] = client.Quote(text)
		}
	}
	return client.Replace(t.File.Row, src, t.Entry, tokens)
}

// give puts back what references stand for.
func (pl Planner) give(t Target, src []byte) ([]byte, error) {
	if pl.Secrets == nil {
		return src, nil
	}
	all, err := client.References(t.File.Row, src, t.Entry)
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	for _, s := range all {
		token, give, err := pl.Secrets.Give(t, s)
		if err != nil {
			return nil, err
		}
		if give {
			tokens[s.Member] = token
		}
	}
	return client.Replace(t.File.Row, src, t.Entry, tokens)
}
