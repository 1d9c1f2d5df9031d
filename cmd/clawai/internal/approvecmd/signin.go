package approvecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/courier"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/term"
)

// personEntry is the vault entry that holds a person's sign-in at a team's centre. The entry has no
// binding to a server, so no server can get its value by a reference.
const personEntry = "clawai-approve-gateway"

// personSignIn is a person's sign-in at a centre. Ends is the time when it expires.
type personSignIn struct {
	URL   string    `json:"url"`
	Token string    `json:"token"`
	Name  string    `json:"name"`
	Ends  time.Time `json:"ends"`
}

// findCentre returns the address of the centre. It is the value of --at, or else the centre at
// which this laptop is enrolled.
func findCentre(c *cli.Context, dirs config.Folders) (string, error) {
	if at := c.String("at"); at != "" {
		u, err := enrolment.ParseURL(at)
		if err != nil {
			return "", cmdline.Usagef("--at: %w", err)
		}
		return u.String(), nil
	}
	e, err := enrolment.ReadEnrolment(dirs.State)
	if errors.Is(err, enrolment.ErrNone) {
		return "", cmdline.Usagef("this laptop is enrolled at no centre; name it with: --gateway --at https://HOST")
	}
	return e.URL, err
}

// readSignIn reads the sign-in at a centre from the vault. ok is false if the vault has no sign-in
// for this address, or if the sign-in has expired.
func readSignIn(address string) (s personSignIn, ok bool, err error) {
	place, err := vaultplace.Open()
	if err != nil {
		return s, false, err
	}
	e, err := place.Get(personEntry)
	if errors.Is(err, vault.ErrNone) {
		return s, false, nil
	}
	if err != nil {
		return s, false, err
	}
	err = json.Unmarshal(e.Value, &s)
	return s, err == nil && s.URL == address && time.Now().Before(s.Ends), nil
}

// keepSignIn stores a sign-in in the vault.
func keepSignIn(s *personSignIn) error {
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	place, err := vaultplace.Open()
	if err != nil {
		return err
	}
	return place.Change(personEntry, func(e *vault.Entry) error {
		e.Value, e.Set, e.MaxAge, e.Bindings, e.Reveal = value, time.Now(), time.Until(s.Ends), nil, false
		return nil
	})
}

func dropSignIn() error {
	place, err := vaultplace.Open()
	if err != nil {
		return err
	}
	if err := place.Delete(personEntry); !errors.Is(err, vault.ErrNone) {
		return err
	}
	return nil
}

// signIn returns the sign-in from the vault. If the vault has no sign-in, signIn starts a new one,
// and the person confirms a code on a page of the centre. signIn prints to standard error.
func signIn(ctx context.Context, c *cli.Context, dirs config.Folders) (personSignIn, error) {
	address, err := findCentre(c, dirs)
	if err != nil {
		return personSignIn{}, err
	}
	s, ok, _ := readSignIn(address)
	if ok {
		return s, nil
	}
	centre := courier.NewCentre(dirs, address, "")
	defer centre.Close()
	name, _ := os.Hostname()
	code, err := centre.AskCode(ctx, enrolment.SignInPath, enrolment.AskEnrolment{Name: name, OS: runtime.GOOS, Version: cmdline.ReleaseVersion()})
	if err != nil {
		return s, explainCentre(err)
	}
	out := cmdline.ProseWriter(c.App.ErrWriter)
	page := code.VerificationURI
	if code.Complete != "" {
		page = code.Complete
	}
	fmt.Fprintf(out, "To answer for your team, open this page and confirm the code %s:\n  %s\n", code.UserCode, term.VisibleText(page))
	var granted enrolment.SignIn
	if err := centre.AwaitGrant(ctx, enrolment.SignInTokenPath, code, &granted); err != nil {
		return s, fmt.Errorf("you are not signed in: %w", explainCentre(err))
	}
	life := time.Duration(min(max(granted.ExpiresIn, 0), 3600)) * time.Second
	s = personSignIn{URL: address, Token: granted.Token, Name: granted.Name, Ends: time.Now().Add(life)}
	fmt.Fprintf(out, "Signed in as %s, until %s.\n", term.VisibleText(s.Name), s.Ends.Local().Format(time.TimeOnly))
	if err := keepSignIn(&s); err != nil {
		fmt.Fprintf(out, "The sign-in is not kept, and the next command asks again: %s\n", term.VisibleText(err.Error()))
	}
	return s, nil
}

// signOut deletes the sign-in from the vault and ends it at the centre.
func signOut(ctx context.Context, c *cli.Context, dirs config.Folders) error {
	address, err := findCentre(c, dirs)
	if err != nil {
		return err
	}
	s, ok, err := readSignIn(address)
	if err != nil {
		return err
	}
	if err := dropSignIn(); err != nil {
		return err
	}
	if !ok {
		return say(c.App.Writer, "You were not signed in at "+address+".")
	}
	centre := courier.NewCentre(dirs, s.URL, s.Token)
	defer centre.Close()
	if err := centre.ExchangeJSON(ctx, http.MethodDelete, enrolment.SignInPath, nil, nil); err != nil {
		return fmt.Errorf("the sign-in is removed here, and lives at the centre until %s: %w", s.Ends.Local().Format(time.TimeOnly), explainCentre(err))
	}
	return say(c.App.Writer, "You are signed out at "+address+".")
}

func say(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, term.VisibleText(text))
	return err
}

// explainCentre replaces some errors of the centre by texts for a person who answers questions.
func explainCentre(err error) error {
	refused, ok := errors.AsType[*courier.StatusError](err)
	if !ok {
		return err
	}
	switch refused.Code {
	case http.StatusUnauthorized:
		return errors.New("your sign-in at the centre has ended; sign in again with: clawai approve --gateway")
	case http.StatusNotFound:
		return errors.New("the centre does not have that; an older centre takes answers on its page alone")
	}
	return refused.Plain()
}
