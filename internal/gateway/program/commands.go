package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/site"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/text/term"
)

// administrator is the name of the person whom a link signs in.
const administrator = "administrator"

// reportEvery is the shortest time between two reports of the same fault.
const reportEvery = time.Minute

// newReporter returns a function that writes faults of the centre, but the same fault only once in
// reportEvery. The function is safe for concurrent use.
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
	return "", fmt.Errorf("no centre runs in %s with --dev; start it with: clawai-gateway serve --dev --dir %s", dir, dir)
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
		dev := "--dev "
		s, err := centre.ReadSettings(dir)
		if err != nil {
			return nil, err
		}
		if s.URL != "" {
			dev = ""
		}
		return nil, fmt.Errorf("there is no centre in %s; make one with: clawai-gateway serve %s--dir %s", dir, dev, dir)
	}
	return centre.Open(ctx, dir)
}

// commandLine is the publisher's name for a bundle that a command in the centre's folder has published.
const commandLine = "the command line of the centre"

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
	b, err := is.Publish(ctx, src, commandLine)
	if err != nil {
		return fmt.Errorf("%s is not published: %w", c.arguments[0], err)
	}
	then := "laptops take it at their next poll"
	if b.State == store.ProposalWaits {
		then = fmt.Sprintf("it waits for %s with the role %s to agree to it, at %s", centre.PeopleText(is.Settings.PeopleWanted()), principal.Admin, pageOf(is, c.dir, site.BundlesPath))
	}
	_, err = fmt.Fprintf(c.stdout, "published: bundle %d, signed by %s; %s\n", b.Counter, term.VisibleText(b.Key), then)
	return err
}

// pageOf returns the address of a page of the centre. A centre of --dev has an address only while it
// runs; otherwise pageOf returns the path after the words "the centre's page".
func pageOf(is *centre.Centre, dir, path string) string {
	address := is.Settings.URL
	if address == "" {
		var err error
		if address, err = readAddress(dir); err != nil {
			address = "the centre's page "
		}
	}
	return address + path
}

// mostBundles is the maximum number of bundles in the list.
const mostBundles = 50

func runBundles(c *call) error {
	return c.withCentre(func(ctx context.Context, is *centre.Centre) error {
		all, err := is.ListPublished(ctx, mostBundles)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			_, err := fmt.Fprintf(c.stdout, "no bundle is published; publish one with: clawai-gateway publish --dir %s BUNDLE\n", c.dir)
			return err
		}
		w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NUMBER\tSTATE\tPUBLISHED (UTC)\tBY\tAGREED\tDECIDED BY")
		for i := range all {
			p := &all[i]
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", p.Counter, p.Word, p.Published.Format(time.DateTime), term.VisibleText(p.By), term.VisibleText(strings.Join(p.Agreed, ", ")), term.VisibleText(p.DecidedBy))
		}
		return w.Flush()
	})
}

// readBundle reads a file. It returns an error if the file is too large for a bundle.
func readBundle(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLimited(f, path)
}

func readLimited(r io.Reader, name string) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, bundle.MaxSize+1))
	if err == nil && len(src) > bundle.MaxSize {
		err = fmt.Errorf("%s is larger than %d MiB, so it is no bundle", name, bundle.MaxSize>>20)
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
	switch err := is.Store.RevokeLaptop(ctx, id, "clawai-gateway revoke", is.Now()); {
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
