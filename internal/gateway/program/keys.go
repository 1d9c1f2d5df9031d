package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/text/term"
)

func setDays(c *call, f *flag.FlagSet) {
	f.IntVar(&c.days, "days", 90, fmt.Sprintf("how many `DAYS` the key lives, at most %d", centre.MaxKeyDays))
}

// withCentre opens the centre of a command, calls the function in the parameter do, and closes the
// centre.
func (c *call) withCentre(do func(ctx context.Context, is *centre.Centre) error) error {
	ctx := context.Background()
	is, err := openExisting(ctx, c.dir)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, is), is.Close())
}

func runKeys(c *call) error {
	return c.withCentre(func(ctx context.Context, is *centre.Centre) error {
		all, err := is.Store.ListKeys(ctx)
		if err != nil {
			return err
		}
		rules, err := is.ListWorkloads(ctx)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			fmt.Fprintf(c.stdout, "no machine has a key; make one with: clawai-gateway key-add --dir %s --role publish NAME\n", c.dir)
			return c.listWorkloads(rules)
		}
		w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tROLES\tSTATE\tUSED")
		for i := range all {
			k := &all[i]
			used := "never"
			if !k.Used.IsZero() {
				used = k.Used.Format(time.DateTime)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.ID, term.VisibleText(k.Name), strings.Join(k.Roles, ","), centre.StateOfKey(k, is.Now()), used)
		}
		return errors.Join(w.Flush(), c.listWorkloads(rules))
	})
}

// listWorkloads writes the rules of workloads, and the workload that each rule let in last.
func (c *call) listWorkloads(rules []centre.WorkloadRule) error {
	if len(rules) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nWORKLOAD\tISSUER\tROLES\tUSED\tBY")
	for i := range rules {
		r := &rules[i]
		used := "never"
		if !r.Use.Used.IsZero() {
			used = r.Use.Used.Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, term.VisibleText(r.Issuer), strings.Join(r.Roles, ","), used, term.VisibleText(r.Use.Subject))
	}
	return w.Flush()
}

func runKeyAdd(c *call) error {
	return c.withCentre(func(ctx context.Context, is *centre.Centre) error {
		var roles []string
		for role := range strings.SplitSeq(c.roles, ",") {
			if role = strings.TrimSpace(role); role != "" {
				roles = append(roles, role)
			}
		}
		k, token, err := is.NewKey(ctx, c.arguments[0], roles, c.days)
		return c.sayKey(&k, token, err)
	})
}

func runKeyRotate(c *call) error {
	return c.withCentre(func(ctx context.Context, is *centre.Centre) error {
		k, token, err := is.RotateKey(ctx, c.arguments[0], c.days, c.hours)
		if errors.Is(err, store.ErrNone) {
			return fmt.Errorf("no key has the id %q; see: clawai-gateway keys --dir %s", c.arguments[0], c.dir)
		}
		return c.sayKey(&k, token, err)
	})
}

// sayKey writes a new key, which is stored nowhere. Only the key goes to standard output, so that a
// command can take it from there.
func (c *call) sayKey(k *store.Key, token string, err error) error {
	if wrong, ok := errors.AsType[*centre.KeyError](err); ok {
		return usagef("%v", wrong)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "%s (%s), until %s: this is shown once. End it with: clawai-gateway key-revoke --dir %s %s\n", k.Name, strings.Join(k.Roles, ", "), k.Expires.UTC().Format(time.DateTime), c.dir, k.ID)
	_, err = fmt.Fprintln(c.stdout, token)
	return err
}

func runKeyRevoke(c *call) error {
	return c.withCentre(func(ctx context.Context, is *centre.Centre) error {
		id := c.arguments[0]
		err := is.Store.RevokeKey(ctx, id, is.Now())
		switch {
		case errors.Is(err, store.ErrNone):
			return fmt.Errorf("no key has the id %q; see: clawai-gateway keys --dir %s", id, c.dir)
		case errors.Is(err, store.ErrTwice):
			_, err = fmt.Fprintf(c.stdout, "%s was revoked before\n", id)
		case err == nil:
			_, err = fmt.Fprintf(c.stdout, "revoked: %s\n", id)
		}
		return err
	})
}
