package site

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/signin"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/page"
)

// CallbackPath is the path to which the identity provider sends a browser back.
const CallbackPath = callback

// flowCookie is the name of the cookie that binds an attempt to sign in to a browser.
const flowCookie = "__Host-clawai-sign-in"

// checkOrigin refuses requests that another site could have caused. Only in a public centre, a page may be
// opened from a link on another site, such as a chat, because opening a page decides nothing.
func (s *Site) checkOrigin(r *http.Request) error {
	isOpened := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	if s.provider != nil && isOpened && r.URL.Path != beginPath && len(r.Header.Values("Origin")) == 0 {
		if err := page.CheckHost(r, s.origin); err != nil {
			return err
		}
		return nil
	}
	if err := page.CheckOrigin(r, s.origin, "document"); err != nil {
		return err
	}
	return nil
}

// newCookie returns a cookie for a session, or for an attempt to sign in. A negative life removes the cookie.
// A public centre uses SameSite=Lax: the identity provider, another site, sends the browser back, and then
// the browser would not send a Strict cookie.
func (s *Site) newCookie(name, value string, life time.Duration) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: int(life / time.Second)} //nolint:gosec // Secure is set below
	if s.provider != nil {
		c.Secure, c.SameSite = true, http.SameSiteLaxMode
	}
	return c
}

const remove = -time.Second

// askSignIn answers somebody who is not signed in.
func (v *visit) askSignIn() error {
	if v.s.provider == nil {
		return stranger
	}
	if v.r.Method != http.MethodGet {
		return refuse(http.StatusUnauthorized, "Your session has ended. Sign in again on the first page, and then send the form again.")
	}
	return v.write(http.StatusUnauthorized, "welcome", "Sign in", "", page.Address(beginPath, "next", v.r.URL.RequestURI()))
}

func (v *visit) showSignIn(token string) error {
	if v.s.provider != nil {
		return notFound
	}
	return v.show("signin", "Sign in", "", token)
}

func (v *visit) signIn(string) error {
	if v.s.provider != nil {
		return notFound
	}
	session, err := v.s.centre.UseLink(v.r.Context(), v.form.Get("token"))
	if errors.Is(err, store.ErrNone) {
		v.s.centre.Figures.CountSignIn(false)
		return usedLink
	}
	if err != nil {
		return err
	}
	v.s.centre.Figures.CountSignIn(true)
	http.SetCookie(v.w, v.s.newCookie(v.s.cookie, session, v.s.centre.SessionLife()))
	return v.goTo("/")
}

// beginSignIn sends a person to the identity provider.
func (v *visit) beginSignIn(string) error {
	if v.s.provider == nil {
		return notFound
	}
	cookie, flow := v.s.centre.NewFlow(localPath(v.r.URL.Query().Get("next")))
	to, err := v.s.provider.Begin(v.r.Context(), flow)
	if err != nil {
		return v.failSignIn(err)
	}
	http.SetCookie(v.w, v.s.newCookie(flowCookie, cookie, 10*time.Minute))
	http.Redirect(v.w, v.r, to, http.StatusSeeOther) //nolint:gosec // the address comes from the provider's own metadata
	return nil
}

// finishSignIn makes a session from the identity provider's answer. It opens the next page by a Refresh header
// and not by a redirect: for a redirect, browsers would treat the request as one from the provider's site.
func (v *visit) finishSignIn(string) error {
	if v.s.provider == nil {
		return notFound
	}
	http.SetCookie(v.w, v.s.newCookie(flowCookie, "", remove))
	var flow signin.Flow
	next := "/"
	if c := v.r.CookiesNamed(flowCookie); len(c) == 1 {
		if f, path, ok := v.s.centre.ReadFlow(c[0].Value); ok {
			flow, next = f, path
		}
	}
	if flow.State != "" && !v.s.centre.TakeAnswer(v.s.addressOf(v.r)) {
		v.s.centre.Figures.CountSignIn(false)
		return refuse(http.StatusTooManyRequests, "Too many sign-ins come from your address. Wait some minutes and sign in again.")
	}
	p, err := v.s.provider.Finish(v.r.Context(), flow, v.r.URL.Query())
	if err != nil {
		return v.failSignIn(err)
	}
	session, err := v.s.centre.SignIn(v.r.Context(), p)
	if err != nil {
		return err
	}
	if v.session != "" {
		if err := v.s.centre.SignOut(v.r.Context(), v.session); err != nil && !errors.Is(err, store.ErrNone) {
			return err
		}
	}
	http.SetCookie(v.w, v.s.newCookie(v.s.cookie, session, v.s.centre.SessionLife()))
	v.s.centre.Figures.CountSignIn(true)
	v.w.Header().Set("Refresh", "0; url="+localPath(next))
	v.session, v.who = "", p
	return writePage(v.w, http.StatusOK, "signedIn", frame{Title: "Signed in", Data: struct{ Name, Next string }{p.Name, localPath(next)}})
}

// failSignIn returns a refusal that tells a person why they are not signed in. It reports the details to the
// centre's administrator.
func (v *visit) failSignIn(err error) error {
	failed, ok := errors.AsType[*signin.Error](err)
	if !ok {
		return err
	}
	if failed.Err != nil && v.s.Report != nil && v.r.Context().Err() == nil {
		v.s.Report(failed)
	}
	v.s.centre.Figures.CountSignIn(false)
	return refuse(http.StatusForbidden, failed.Text+".")
}

// localPath returns the path of a page of this site with its query; "/" for anything else.
func localPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxForm/2 || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || u.Fragment != "" || !strings.HasPrefix(text, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.ContainsAny(u.Path, "\\\r\n") || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) || u.Path == beginPath || u.Path == callback {
		return "/"
	}
	return u.RequestURI()
}

func (v *visit) signOut(string) error {
	if err := v.s.centre.SignOut(v.r.Context(), v.session); err != nil && !errors.Is(err, store.ErrNone) {
		return err
	}
	http.SetCookie(v.w, v.s.newCookie(v.s.cookie, "", remove))
	text := "You are signed out here. At your identity provider you may still be signed in."
	if v.s.provider == nil {
		text = "You are signed out. A new link is made by: clawai-gateway link"
	}
	return writePage(v.w, http.StatusOK, "message", frame{Title: "Signed out", Data: text})
}

// meData is the data of a person's own page.
type meData struct {
	Lack             string
	Name, Key, Email string
	Roles, Groups    []string
	GroupsKnown      bool
	Local            bool
}

func (v *visit) newMe(lack string) meData {
	return meData{lack, v.who.Name, v.who.Key(), v.who.Email, v.who.Roles, v.who.Groups, v.who.GroupsKnown, v.s.provider == nil}
}

func (v *visit) showMe(string) error { return v.show("me", "You", mePage, v.newMe("")) }

// showLack shows which roles a page requires. For the path "/" it redirects to the first page that the person
// may see.
func (v *visit) showLack(roles []string) error {
	if v.r.URL.Path == "/" {
		for _, t := range tabs {
			if v.who.Has(t.roles...) {
				return v.goTo(t.path)
			}
		}
	}
	return v.write(http.StatusForbidden, "me", "You", mePage, v.newMe("This needs the role "+strings.Join(roles, " or ")+"."))
}
