package wrap

import (
	"github.com/clawai/clawai/wrap/client"
)

// Secrets moves secrets between files and the vault. If a method returns an error, the server stays
// unedited.
type Secrets interface {
	// TakeSecret moves a secret into the vault. text is the reference for the file in place of the
	// secret. If take is false, the secret stays in the file.
	TakeSecret(t Target, s client.Secret) (text string, take bool, err error)
	// ReturnToken returns the token that a reference in the file has replaced. If give is false,
	// the reference stays in the file.
	ReturnToken(t Target, s client.Secret) (token string, give bool, err error)
}

// holdsSecrets reports whether the entry of a wrapped server contains secrets.
func holdsSecrets(t Target) bool {
	if t.Entry.Wrapped == nil || t.Entry.Problem != nil {
		return false
	}
	all, err := client.FindSecrets(t.File.Row, t.File.src, t.Entry)
	return err == nil && len(all) > 0
}

// takeSecrets replaces the secrets in an entry by references.
func (pl Planner) takeSecrets(t Target, src []byte) ([]byte, error) {
	return pl.exchangeTokens(t, src, client.FindSecrets, func(s client.Secret) (string, bool, error) {
		text, take, err := pl.Secrets.TakeSecret(t, s)
		return client.Quote(text), take, err
	})
}

// restoreSecrets replaces the references in an entry by their former tokens.
func (pl Planner) restoreSecrets(t Target, src []byte) ([]byte, error) {
	return pl.exchangeTokens(t, src, client.FindReferences, func(s client.Secret) (string, bool, error) { return pl.Secrets.ReturnToken(t, s) })
}

// exchangeTokens replaces tokens in an entry. The parameter find is a function that lists the texts
// of the entry. The parameter replace is a function that returns the new token of a text; if it
// returns false, the text stays.
func (pl Planner) exchangeTokens(t Target, src []byte, find func(client.Row, []byte, client.Entry) ([]client.Secret, error), replace func(client.Secret) (string, bool, error)) ([]byte, error) {
	if pl.Secrets == nil {
		return src, nil
	}
	all, err := find(t.File.Row, src, t.Entry)
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	for _, s := range all {
		token, changes, err := replace(s)
		if err != nil {
			return nil, err
		}
		if changes {
			tokens[s.Member] = token
		}
	}
	return client.ReplaceVariables(t.File.Row, src, t.Entry, tokens)
}
