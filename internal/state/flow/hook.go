package flow

import "os"

// HearIn endorses everything that the user's text (said) names. It does so for the proxies of the
// session that the client names. It does the same for the proxies that the client's process has
// started, because these may not know the session's name.
func HearIn(state, session, said string) error {
	if err := CheckStarter(); err != nil {
		return err
	}
	if err := checkClient(dirOf(state), IDKey(session), os.Getppid()); err != nil {
		return err
	}
	return HearUser(state, append(ClientKeys(), IDKey(session)), said)
}

// OfHook returns the session of the client's proxies. If the client names a session, OfHook joins
// this session with that of the proxies. The two can differ: after a clear the client has a new
// session name, but its proxies keep the old one.
func OfHook(state, project, session string) (*Session, error) {
	one := New(state, append(SessionKeys(os.Getenv, project), ClientKeys()...))
	one.ListenKeys(ClientKeys()...)
	one.FollowClient(os.Getenv)
	if session == "" {
		_, err := one.Seen() // opens the journals, and so joins the keys
		return one, err
	}
	return one, one.JoinKey(IDKey(session))
}
