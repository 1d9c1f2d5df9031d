package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/gofrs/flock"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/site"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/text/term"
)

// administrator is who a link signs in.
const administrator = centre.Administrator

// addressFile is the file in the centre's folder in which a running centre writes its address.
const addressFile = "gateway.address"

// lockFile is the file in the centre's folder that a running centre keeps locked.
const lockFile = "gateway.lock"

func runServe(c *call) error {
	if !c.dev {
		return usagef("serve needs --dev: it listens on this machine alone, and its administrator signs in by a link")
	}
	if c.port < 0 || c.port > 65535 {
		return usagef("%d is not a port", c.port)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	is, err := centre.Open(ctx, c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = is.Close() }()
	// Two centres in one folder would take each other's address, and would each have limits of their own.
	only := flock.New(filepath.Join(c.dir, lockFile), flock.SetPermissions(0o600))
	if free, err := only.TryLock(); err != nil || !free {
		return cmp.Or(err, fmt.Errorf("a centre runs in %s already; end it first, or make another link to it: clawai-gateway link --dir %s", c.dir, c.dir))
	}
	defer func() { _ = only.Close() }()
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)))
	if err != nil {
		return fmt.Errorf("%w; another port: clawai-gateway serve --dev --dir %s --port PORT", err, c.dir)
	}
	s, err := site.New(is, l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.Report = newReporter(c.stderr, is.Now)
	token, err := is.NewLink(ctx, administrator)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	// Only now can clawai-gateway link make another one, which ends this one.
	path := filepath.Join(c.dir, addressFile)
	if err := atomicfile.Write(path, []byte(s.Address()+"\n"), atomicfile.Options{Mode: 0o600}); err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { _ = os.Remove(path) }()
	fmt.Fprintf(c.stdout, "Open %s\nThis link works once, for 15 minutes; another: clawai-gateway link --dir %s\n", s.SignInLink(token), c.dir)
	if len(is.Settings.BundleKeys) == 0 {
		fmt.Fprintf(c.stdout, "No laptop can be enrolled yet: put bundle_keys into %s and start the centre again (docs/gateway.md)\n", filepath.Join(c.dir, centre.SettingsFile))
	} else {
		fmt.Fprintf(c.stdout, "On each laptop run: clawai enroll %s\n", s.Address())
	}
	return s.Serve(ctx)
}

// reportEvery is how often the same fault is written.
const reportEvery = time.Minute

// newReporter returns a function that writes faults of the centre, the same one once a minute. It is
// safe for concurrent use.
func newReporter(w io.Writer, now func() time.Time) func(error) {
	var mu sync.Mutex
	told := map[string]time.Time{}
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		at, text := now(), err.Error()
		maps.DeleteFunc(told, func(_ string, last time.Time) bool { return at.Sub(last).Abs() >= reportEvery })
		if _, known := told[text]; known || len(told) >= 100 {
			return
		}
		told[text] = at
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(w, "clawai-gateway: %s %s\n", at.UTC().Format(time.DateTime), term.VisibleText(line))
		}
	}
}

// readAddress returns the address of the centre that runs in a folder.
func readAddress(dir string) (string, error) {
	src, err := os.ReadFile(filepath.Join(dir, addressFile))
	address := strings.TrimSpace(string(src))
	host, ok := strings.CutPrefix(address, "http://")
	if err == nil && ok {
		var there net.Conn
		if there, err = net.DialTimeout("tcp", host, 2*time.Second); err == nil {
			return address, there.Close()
		}
	}
	return "", fmt.Errorf("no centre runs in %s; start it with: clawai-gateway serve --dev --dir %s", dir, dir)
}

func runLink(c *call) error {
	ctx := context.Background()
	address, err := readAddress(c.dir)
	if err != nil {
		return err
	}
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = is.Close() }()
	token, err := is.NewLink(ctx, administrator)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.stdout, address+site.SignInPath+token)
	return err
}

// openExisting opens the centre in a folder that has one.
func openExisting(ctx context.Context, dir string) (*centre.Centre, error) {
	if !centre.IsThere(dir) {
		return nil, fmt.Errorf("there is no centre in %s; make one with: clawai-gateway serve --dev --dir %s", dir, dir)
	}
	return centre.Open(ctx, dir)
}

func runPublish(c *call) error {
	src, err := readBundle(c.arguments[0])
	if err != nil {
		return usagef("%v", err)
	}
	ctx := context.Background()
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = is.Close() }()
	b, err := is.Publish(ctx, src)
	if err != nil {
		return fmt.Errorf("%s is not published: %w", c.arguments[0], err)
	}
	_, err = fmt.Fprintf(c.stdout, "published: bundle %d, signed by %s; laptops take it at their next poll\n", b.Counter, term.VisibleText(b.Key))
	return err
}

// readBundle reads a file that is not larger than a bundle.
func readBundle(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, bundle.MaxSize+1))
	if err == nil && len(src) > bundle.MaxSize {
		err = fmt.Errorf("%s is larger than %d MiB, so it is no bundle", path, bundle.MaxSize>>20)
	}
	return src, err
}

func runLaptops(c *call) error {
	ctx := context.Background()
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = is.Close() }()
	all, newest, err := listLaptops(ctx, is)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.stdout, "no laptop is enrolled; on each one run: clawai enroll URL")
		return err
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tSTATE\tBUNDLE\tRECORDS")
	for i := range all {
		l := &all[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\n", l.ID, term.VisibleText(l.Name), is.StateOf(l, newest).Word, l.Report.Counter, l.Records)
	}
	return w.Flush()
}

// listLaptops returns the laptops, and the counter of the newest bundle; 0 if there is none.
func listLaptops(ctx context.Context, is *centre.Centre) ([]store.Laptop, uint64, error) {
	newest, err := is.NewestCounter(ctx)
	if err != nil {
		return nil, 0, err
	}
	all, err := is.Store.ListLaptops(ctx)
	return all, newest, err
}

func runRevoke(c *call) error {
	ctx := context.Background()
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = is.Close() }()
	id := c.arguments[0]
	switch err := is.Store.RevokeLaptop(ctx, id, is.Now()); {
	case errors.Is(err, store.ErrNone):
		return fmt.Errorf("no laptop has the id %q; see: clawai-gateway laptops --dir %s", id, c.dir)
	case errors.Is(err, store.ErrTwice):
		_, err := fmt.Fprintf(c.stdout, "%s was revoked before\n", id)
		return err
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "revoked: %s; what it shipped stays\n", id)
	return err
}

// checkPatience is how long doctor reads the database.
const checkPatience = 30 * time.Second

// runDoctor checks what can be wrong with a centre, one line each.
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
	say(len(s.BundleKeys) > 0, "settings: %d keys of bundles; %s", len(s.BundleKeys), s.OfflineRule())
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		say(false, "database: %v", err)
		return errFailed
	}
	defer func() { _ = is.Close() }()
	all, newest, err := listLaptops(ctx, is)
	if err != nil {
		say(false, "database: %v", err)
		return errFailed
	}
	database := filepath.Join(c.dir, centre.DatabaseFile)
	if s.Database != "" {
		database = "the one that " + centre.SettingsFile + " names"
	}
	patience, cancel := context.WithTimeout(ctx, checkPatience)
	err = is.Store.Check(patience)
	switch {
	case err == nil:
		say(true, "database: %s", database)
	case patience.Err() != nil:
		say(true, "database: %s; it was not read to its end in %v", database, checkPatience)
	default:
		say(false, "database: %s: %v; mend the disk, or put a copy of the database back (docs/gateway.md)", database, err)
	}
	cancel()
	if newest == 0 {
		say(false, "bundle: none is published; publish one with: clawai-gateway publish --dir %s BUNDLE", c.dir)
	} else {
		say(true, "bundle: the newest is number %d", newest)
	}
	for i := range all {
		if state := is.StateOf(&all[i], newest); state.IsRed() {
			say(false, "laptop %s (%s): %s", all[i].ID, all[i].Name, state.Word)
		}
	}
	say(true, "laptops: %d", len(all))
	if address, err := readAddress(c.dir); err != nil {
		say(false, "address: %v", err)
	} else {
		say(true, "address: %s answers", address)
	}
	if failed {
		return errFailed
	}
	return nil
}
