//go:build linux

// Command fleet measures a team's centre: a real clawai-gateway with a new PostgreSQL server, many laptops that
// ship records from the real recorder, and a browser that is signed in (docs/benchmarks.md).
//
//	go run ./test/fleet                            500 laptops for a minute, pages at 100,000 records: about five minutes
//	go run ./test/fleet --quick                    only checks that everything works; its figures mean nothing
//	go run ./test/fleet --minutes 30 --rate 2000   checks that memory does not grow; needs some 8 GB of disk
//	go run ./test/fleet --records 10000000         measures pages with ten million records; needs some 12 GB of disk
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the command line options.
type options struct {
	laptops  int
	minutes  float64
	part     int
	rate     int
	polls    int
	records  int
	requests int
	explain  bool
	quick    bool
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.laptops, "laptops", 500, "how many laptops are enrolled and ship at once")
	flags.Float64Var(&o.minutes, "minutes", 1, "for how many minutes they ship")
	flags.IntVar(&o.part, "part", 64, "how many `records` a laptop sends in one request; 0: as many as go into 1 MiB, as one does that has a backlog")
	flags.IntVar(&o.rate, "rate", 0, "how many `records` a second all laptops ship together; 0: as many as the centre acknowledges")
	flags.IntVar(&o.polls, "polls", 20_000, "how often laptops ask for a bundle that they have")
	flags.IntVar(&o.records, "records", 100_000, "at how many records pages are measured")
	flags.IntVar(&o.requests, "requests", 50, "how often each page is asked for")
	flags.BoolVar(&o.explain, "explain", false, "print the plans of statements that take longer than 20 ms while pages are loaded")
	flags.BoolVar(&o.quick, "quick", false, "few laptops, records and requests: whether it works, no figure to quote")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("what is %q? options only; see: go run ./test/fleet --help", flags.Arg(0))
	}
	if o.quick {
		o.laptops, o.minutes, o.polls, o.records, o.requests = 40, 0.1, 1000, 20_000, 3
	}
	if o.laptops < 1 || o.minutes <= 0 || o.part < 0 || o.rate < 0 || o.polls < 1 || o.records < 0 || o.requests < 1 {
		return o, errors.New("a number is too small; see: go run ./test/fleet --help")
	}
	return o, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "fleet: %v\n", err)
		os.Exit(1) //nolint:forbidigo // main may end the process
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	began := time.Now()
	c, err := startCentre(ctx, o.explain)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	f := &fleet{centre: c, out: stdout, options: o}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{{"recording", f.record}, {"enrolling", f.enrol}, {"shipping", f.ship}, {"polling", f.poll}, {"filling", f.fill}, {"pages", f.measurePages}} {
		fmt.Fprintf(stderr, "%6.0f s  %s\n", time.Since(began).Seconds(), step.name)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}
