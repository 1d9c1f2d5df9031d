//go:build linux

// Command bench measures clawai from outside, together with a bare server and
// two relays, on loopback pipes. It runs all ways in turn in each round, so
// that a ratio compares values of the same moment. bench/README.md has the
// results.
//
//	go run ./bench                   about two minutes, on an otherwise idle machine
//	go run ./bench --against REV     also measures clawai of another commit
//	go run ./bench --hub --only calls,memory   also measures the hub
//	go run ./bench --write           also updates the table of bench/README.md
//	go run ./bench --sizes           share of each module in the binary
//	go run ./bench --rooms           share of each package in the instructions
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if role := childRole(os.Args); role != nil {
		role(os.Args[3:])
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp), err == nil:
	default:
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1) //nolint:forbidigo // main may exit
	}
}

// options are the command line options.
type options struct {
	against string
	rounds  int
	quick   bool
	json    string
	write   bool
	sizes   bool
	rooms   bool
	only    string
	hub     bool
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.against, "against", "", "also measure clawai of this `commit`, built in a work tree of its own")
	flags.IntVar(&o.rounds, "rounds", 20, "how many rounds; each measures every way once")
	flags.BoolVar(&o.quick, "quick", false, "two small rounds: whether it works, no figure to quote")
	flags.StringVar(&o.json, "json", "", "write every figure as JSON to this `file`; - is standard output, instead of the table")
	flags.BoolVar(&o.write, "write", false, "renew the table in bench/README.md")
	flags.BoolVar(&o.sizes, "sizes", false, "instead of measuring, say which module brings how much of the binary")
	flags.BoolVar(&o.rooms, "rooms", false, "instead of measuring, say which package executes how many of the instructions (needs valgrind)")
	flags.BoolVar(&o.hub, "hub", false, "also measure the hub, with ten servers of which one is called; goes with --only calls, results or memory")
	flags.StringVar(&o.only, "only", "", "measure these only, separated by commas: "+strings.Join(names(), ", "))
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("what is %q? options only; see: go run ./bench --help", flags.Arg(0))
	case o.rounds < 1:
		return o, errors.New("--rounds is at least 1")
	case (o.sizes || o.rooms) && (o.sizes == o.rooms || o.against != "" || o.json != "" || o.quick || o.only != ""):
		return o, errors.New("--sizes and --rooms go with --write alone")
	case o.write && (o.quick || o.only != ""):
		return o, errors.New("--write needs a whole run: leave out --quick and --only")
	}
	for name := range strings.SplitSeq(o.only, ",") {
		if o.hub && !slices.Contains([]string{"calls", "results", "memory"}, name) {
			return o, errors.New("--hub goes with --only calls, results or memory")
		}
		if o.only != "" && !slices.Contains(names(), name) {
			return o, fmt.Errorf("--only knows %s, not %q", strings.Join(names(), ", "), name)
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	bed, err := newTestbed(ctx, o.against, o.hub)
	if err != nil {
		return err
	}
	defer bed.close()
	switch {
	case o.sizes:
		table, err := bed.sizeTable()
		return show(table, err, sizesMark, o.write, stdout)
	case o.rooms:
		table, err := bed.roomTable(ctx)
		return show(table, err, roomsMark, o.write, stdout)
	}
	r, err := measureAll(ctx, bed, o, stderr)
	if err != nil {
		return err
	}
	if o.write {
		if err := renew(benchmarksDoc, waysMark, r.table()); err != nil {
			return err
		}
	}
	if o.json != "" {
		if err := writeJSON(o.json, stdout, r); err != nil {
			return err
		}
	}
	if o.json != "-" {
		_, err = io.WriteString(stdout, r.table())
	}
	return err
}

// show prints a table. If write is true, it also writes the table into the document, after the
// mark.
func show(table string, err error, mark string, write bool, stdout io.Writer) error {
	if err == nil && write {
		err = renew(benchmarksDoc, mark, table)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(stdout, table)
	return err
}

// measureAll runs the requested measurements in sequence, each in rounds.
func measureAll(ctx context.Context, bed *testbed, o options, progress io.Writer) (*report, error) {
	r := newReport(ctx, bed)
	for _, m := range measurements {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), m.name) {
			continue
		}
		rounds := max(o.rounds/m.dear, 1)
		if o.quick {
			rounds = min(2, max(2/m.dear, 1))
		}
		fmt.Fprintf(progress, "%s: %d rounds of %d ways\n", m.name, rounds, len(bed.ways))
		if err := m.run(&trial{bed: bed, report: r, rounds: rounds, quick: o.quick}, ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return r, nil
}
