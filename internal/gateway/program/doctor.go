package program

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/site"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
)

// checkPatience is the maximum time in which doctor reads the database.
const checkPatience = 30 * time.Second

// sayFunc reports the result of one check in a line.
type sayFunc func(ok bool, format string, a ...any)

// runDoctor makes the checks of a centre. It writes one line for each check.
func runDoctor(c *call) error {
	ctx := context.Background()
	failed := false
	say := func(ok bool, format string, a ...any) {
		word := "ok   "
		if !ok {
			word, failed = "WRONG", true
		}
		fmt.Fprintf(c.stdout, "%s %s\n", word, term.VisibleText(fmt.Sprintf(format, a...)))
	}
	s, err := centre.ReadSettings(c.dir)
	if err != nil {
		say(false, "settings: %v", err)
		return errFailed
	}
	if s.URL != "" {
		if err := s.CheckPublic(); err != nil {
			say(false, "settings: %v", err)
		}
	}
	say(len(s.BundleKeys) > 0, "settings: keys of bundles: %d; %s", len(s.BundleKeys), s.OfflineRule())
	c.checkDatabase(ctx, &s, say)
	checkWays(&s, say)
	if s.URL == "" {
		if address, err := readAddress(c.dir); err != nil {
			say(false, "address: %v", err)
		} else {
			say(true, "address: %s answers", address)
		}
	} else {
		checkPublic(ctx, &s, say)
	}
	if failed {
		return errFailed
	}
	return nil
}

// checkWays checks that the settings of Slack, webhooks and mail in gateway.toml can be used. It sends nothing.
func checkWays(s *centre.Settings, say sayFunc) {
	ways, _, err := newWays(s, time.Now)
	if err != nil {
		say(false, "messages: %v", err)
		return
	}
	if len(ways) > 0 {
		say(true, "messages: %d ways; none was tried", len(ways))
	}
}

// checkDatabase checks the database, and then makes the checks of checkCentre.
func (c *call) checkDatabase(ctx context.Context, s *centre.Settings, say sayFunc) {
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		say(false, "database: %v", err)
		return
	}
	defer func() { _ = is.Close() }()
	database := filepath.Join(c.dir, centre.DatabaseFile)
	if s.Database != "" {
		database = "the one that " + centre.SettingsFile + " names"
	}
	patience, cancel := context.WithTimeout(ctx, checkPatience)
	ready := is.Store.CheckReady(patience, is.Now)
	err = is.Store.Check(patience)
	switch {
	case ready != nil:
		say(false, "database: %s: %v", database, ready)
	case err == nil:
		say(true, "database: %s", database)
	case patience.Err() != nil:
		say(true, "database: %s; it was not read to its end in %v", database, checkPatience)
	default:
		say(false, "database: %s: %v; mend the disk, or put a copy of the database back (docs/gateway.md)", database, err)
	}
	cancel()
	checkCentre(ctx, is, c.dir, say)
}

// checkCentre checks the bundles, the states of laptops, the checkpoints, and the issuers of workloads.
func checkCentre(ctx context.Context, is *centre.Centre, dir string, say sayFunc) {
	all, newest, err := listLaptops(ctx, is)
	if err != nil {
		say(false, "database: %v", err)
		return
	}
	checkBundles(ctx, is, dir, newest, say)
	for i := range all {
		if state := is.StateOf(&all[i], newest); state.IsRed() {
			say(false, "laptop %s (%s): %s", all[i].ID, all[i].Name, state.Word)
		}
	}
	say(true, "laptops: %d", len(all))
	checkCheckpoints(ctx, is, say)
	checkIssuers(ctx, is, say)
}

// newHealth returns the checks of the page Health. These are the checks of doctor, except the one that reads
// the whole database, because it would slow down the centre.
func newHealth(is *centre.Centre, dir string) func(ctx context.Context) []site.Check {
	return func(ctx context.Context) (all []site.Check) {
		say := func(ok bool, format string, a ...any) {
			all = append(all, site.Check{OK: ok, Text: fmt.Sprintf(format, a...)})
		}
		if err := is.Store.CheckReady(ctx, is.Now); err != nil {
			say(false, "database: %v", err)
		} else {
			say(true, "database: it answers")
		}
		checkCentre(ctx, is, dir, say)
		checkWays(&is.Settings, say)
		if is.Settings.URL != "" {
			checkPublic(ctx, &is.Settings, say)
		}
		return all
	}
}

// checkBundles checks that a bundle is in force, and that somebody has the role to put a waiting bundle into force.
func checkBundles(ctx context.Context, is *centre.Centre, dir string, newest uint64, say sayFunc) {
	published, err := is.ListPublished(ctx, 1)
	if err != nil {
		say(false, "bundle: %v", err)
		return
	}
	waits := len(published) > 0 && published[0].State == store.ProposalWaits
	if waits {
		checkSigned(is, published[0].Counter, published[0].Word, func() ([]byte, error) {
			p, err := is.Store.FindProposal(ctx, published[0].Counter)
			return p.Bytes, err
		}, say)
	}
	switch {
	case newest > 0:
		checkSigned(is, newest, "is in force", func() ([]byte, error) {
			b, err := is.Store.FindBundle(ctx, newest)
			return b.Bytes, err
		}, say)
	case waits:
		say(false, "bundle: none is in force; agree to number %d at %s", published[0].Counter, pageOf(is, dir, site.BundlesPath))
	default:
		say(false, "bundle: none is published; publish one with: clawai-gateway publish --dir %s BUNDLE", dir)
	}
	s := &is.Settings
	if s.Bundles.People > 0 && s.URL != "" && !slices.ContainsFunc(s.Roles, func(r principal.Role) bool { return r.Name == principal.Admin }) {
		say(false, "bundle: bundles.people is %d, and nobody has the role %s; write a [[role]] of this name into %s", s.Bundles.People, principal.Admin, centre.SettingsFile)
	}
}

// checkSigned checks that a key in gateway.toml has signed a bundle, because laptops that enrol from now on know
// only the keys in gateway.toml. The parameter does is the end of the sentence "number N ..." about the bundle.
func checkSigned(is *centre.Centre, counter uint64, does string, read func() ([]byte, error), say sayFunc) {
	src, err := read()
	if err == nil {
		_, _, err = is.ReadSigned(src)
	}
	if err != nil {
		say(false, "bundle: number %d %s, and laptops that enrol now refuse it: %v; publish one that a key of bundle_keys has signed", counter, does, err)
		return
	}
	say(true, "bundle: number %d %s", counter, does)
}

// checkIssuers checks that the issuers of workloads answer.
func checkIssuers(ctx context.Context, is *centre.Centre, say sayFunc) {
	is.LookAtIssuers(ctx, func(address string, ahead time.Duration, known bool, err error) {
		switch {
		case err != nil:
			say(false, "workloads: %s: %v; issuer in gateway.toml must be the address that it writes into its tokens, and this machine must reach it", address, err)
		case known && ahead.Abs() > mostAhead:
			say(false, "workloads: the clock of %s is %v ahead of this machine's, and tokens would not count; set the clock, for example by systemd-timesyncd", address, ahead.Round(time.Second))
		default:
			say(true, "workloads: %s answers", address)
		}
	})
}

// checkPublic checks what only a centre without --dev has: a certificate, a public address, and an
// identity provider.
func checkPublic(ctx context.Context, s *centre.Settings, say sayFunc) {
	at, address := s.Listen, s.URL
	if !at.BehindProxy && at.Certificate != "" {
		checkCertificate(at.Certificate, at.Key, address, time.Now(), say)
	}
	if err := askAddress(ctx, address); err != nil {
		say(false, "address: %s does not answer as this centre: %v; look at its name in DNS, at its certificate, and whether the centre runs", address, err)
	} else {
		say(true, "address: %s answers", address)
	}
	if s.OIDC.Issuer == "" {
		return
	}
	provider, err := newProvider(s, time.Now)
	if err != nil {
		say(false, "provider: %v", err)
		return
	}
	ahead, known, err := provider.Look(ctx)
	switch {
	case err != nil:
		say(false, "provider: %s: %v; issuer in gateway.toml must be the address that the provider writes into its tokens", s.OIDC.Issuer, err)
	case known && ahead.Abs() > mostAhead:
		say(false, "clock: the provider's is %v ahead of this machine's, and tokens would not count; set the clock, for example by systemd-timesyncd", ahead.Round(time.Second))
	default:
		say(true, "provider: %s answers; it must know the address %s", s.OIDC.Issuer, address+site.CallbackPath)
	}
}

// mostAhead is the largest difference of two clocks that is not reported. If clocks differ by more than a minute,
// tokens are refused.
const mostAhead = 30 * time.Second

// soon is the remaining lifetime below which a certificate is reported.
const soon = 14 * 24 * time.Hour

// checkCertificate checks the files of the certificate, its names, and the time at which it ends.
func checkCertificate(chain, key, address string, now time.Time, say sayFunc) {
	own, err := readCertificate(chain, key, func(error) {}, time.Now)
	if err != nil {
		say(false, "certificate: %v", err)
		return
	}
	u, err := url.Parse(address)
	if err == nil {
		err = own.pair.Leaf.VerifyHostname(u.Hostname())
	}
	switch {
	case err != nil:
		say(false, "certificate: %s is not for the name in url: %v; get one for that name", chain, err)
	case now.Add(soon).After(own.pair.Leaf.NotAfter):
		say(false, "certificate: %s ends on %s; renew it, and the centre takes the new files by itself", chain, own.pair.Leaf.NotAfter.UTC().Format(time.DateOnly))
	default:
		say(true, "certificate: until %s", own.pair.Leaf.NotAfter.UTC().Format(time.DateOnly))
	}
}

// askAddress sends a request without a token to the centre's public address. It returns an error if the answer is not
// the refusal that only a centre gives.
func askAddress(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+enrolment.BundlePath, nil)
	if err != nil {
		return err
	}
	out := egress.Network{}.NewTransport(egress.Options{})
	defer out.CloseIdleConnections()
	client := http.Client{Transport: out, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusUnauthorized || !strings.Contains(resp.Header.Get("WWW-Authenticate"), "clawai") {
		return fmt.Errorf("it answers %s to a laptop without a token", resp.Status)
	}
	return nil
}
