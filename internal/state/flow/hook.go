package flow

import "os"

// HearIn has what the user says endorse what stands in it, for the proxies of the session that
// a client names, and for those that the same client process has started: they may not know
// the name.
func HearIn(state, session, said string) error {
	return HearUser(state, append(ClientKeys(), IDKey(session)), said)
}

// OfHook gives the session that the client's proxies are of, with the one that the client names, if
// it does: it has another name after it was cleared, and they do not.
func OfHook(state, project, session string) (*Session, error) {
	one := New(state, append(SessionKeys(os.Getenv, project), ClientKeys()...))
	one.ListenKeys(ClientKeys()...)
	one.FollowClient(os.Getenv)
	if session == "" {
		_, err := one.Seen() // it joins the others
		return one, err
	}
	return one, one.JoinKey(IDKey(session))
}
