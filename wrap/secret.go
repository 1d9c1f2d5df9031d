package wrap

import (
	"github.com/clawai/clawai/wrap/client"
)

// Secrets are moved between files and the vault. An error refuses the edit of the server.
type Secrets interface {
	// Take gives what stands in the file for a secret from now on, as text; not take: the
	// secret stays.
	TakeSecret(t Target, s client.Secret) (text string, take bool, err error)
	// Give gives the token that stood there before; not give: the reference stays.
	ReturnToken(t Target, s client.Secret) (token string, give bool, err error)
}

// holdsSecrets says that a server behind clawai has secrets in its file.
func holdsSecrets(t Target) bool {
	if t.Entry.Wrapped == nil || t.Entry.Problem != nil {
		return false
	}
	all, err := client.FindSecrets(t.File.Row, t.File.src, t.Entry)
	return err == nil && len(all) > 0
}

// takeSecrets puts references in the place of secrets.
func (pl Planner) takeSecrets(t Target, src []byte) ([]byte, error) {
	return pl.exchangeTokens(t, src, client.FindSecrets, func(s client.Secret) (string, bool, error) {
		text, take, err := pl.Secrets.TakeSecret(t, s)
		return client.Quote(text), take, err
	})
}

// restoreSecrets puts back what references stand for.
func (pl Planner) restoreSecrets(t Target, src []byte) ([]byte, error) {
	return pl.exchangeTokens(t, src, client.FindReferences, func(s client.Secret) (string, bool, error) { return pl.Secrets.ReturnToken(t, s) })
}

// exchangeTokens puts other tokens in the place of the texts that find finds, where other has one.
func (pl Planner) exchangeTokens(t Target, src []byte, find func(client.Row, []byte, client.Entry) ([]client.Secret, error), other func(client.Secret) (string, bool, error)) ([]byte, error) {
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
	return client.ReplaceVariables(t.File.Row, src, t.Entry, tokens)
}
