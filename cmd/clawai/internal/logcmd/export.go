package logcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/export"
	"github.com/clawai/clawai/internal/state/export/deliver"
	"github.com/clawai/clawai/internal/text/term"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:  "export",
		Usage: "write decisions in the form of another program: OCSF, CEF, syslog, OTLP, in-toto",
		UsageText: "clawai log export --format FORM [options]\n" +
			"clawai log export --format syslog --follow --to syslog+tls://HOST:6514 --cursor FILE\n" +
			"clawai log export --format otlp --follow --to https://HOST:4318 --cursor FILE",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "the `FORM`: ocsf, cef, syslog, otlp, or in-toto (a draft)"},
			&cli.StringFlag{Name: "to", Usage: "append to a `FILE`, or send to syslog+tls://HOST:PORT or to an OTLP endpoint http(s)://HOST:PORT (default: with otlp OTEL_EXPORTER_OTLP_ENDPOINT, otherwise -, the standard output)"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "also export what is recorded from now on"},
			&cli.StringFlag{Name: "cursor", Usage: "keep in this `FILE` what was taken, and do not export it again"},
			&cli.BoolFlag{Name: "no-args", Usage: "leave the arguments of calls out"},
		}, append(filterFlags(),
			&cli.StringFlag{Name: "record", Usage: "the record `ID` that a denial quotes, and what refers to it"},
			&cli.StringSliceFlag{Name: "kind", Usage: "only the `KIND` (repeatable; default: decision, outcome and answered)"},
		)...),
		Action: exportLog,
	}
}

func exportLog(c *cli.Context) error {
	if err := ownOptions(c); err != nil {
		return err
	}
	form, ok := export.FindForm(c.String("format"))
	switch {
	case c.String("format") == "":
		return cmdline.Usagef("log export needs --format, one of: %s", strings.Join(export.FormNames(), ", "))
	case !ok:
		return cmdline.UnknownWord("--format", "form", c.String("format"), export.FormNames())
	}
	f, err := exportFilter(c, time.Now())
	if err != nil {
		return err
	}
	x := &exporter{filter: f, noArgs: c.Bool("no-args"), warn: &sharedWriter{to: c.App.ErrWriter}}
	if x.dir, err = record.FindLogDir(); err != nil {
		return err
	}
	open, err := findDestination(c, form, x.note)
	if err != nil {
		return err
	}
	if path := c.String("cursor"); path != "" {
		release, err := x.cursor.openFile(path, x.dir)
		if err != nil {
			return err
		}
		defer release()
	}
	if err := x.verifyRecord(); err != nil {
		return err
	}
	if x.sink, err = open(); err != nil {
		return err
	}
	return x.run(c)
}

// exportFilter parses the flags that choose the records to export.
func exportFilter(c *cli.Context, now time.Time) (audit.Filter, error) {
	f, err := logFilter(c, now)
	if err != nil {
		return f, err
	}
	f.Headers, f.Replies = false, len(f.Kinds) == 0
	if len(f.Kinds) == 0 {
		f.Kinds = slices.Clone(export.LoggedKinds)
	}
	return f, nil
}

// bareAddress matches HOST:PORT. Such a value of --to is probably meant as an address and not as a
// file.
var bareAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^/\\\\]+:[0-9]+$`) })

// findDestination parses --to. It returns a function that opens the destination.
func findDestination(c *cli.Context, form export.Form, note func(string)) (func() (deliver.Sink, error), error) {
	to, source := c.String("to"), export.Source{Version: cmdline.ReleaseVersion()}
	source.Host, _ = os.Hostname() // after an error, the exported events have no host name
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, err
	}
	network := egress.Network{Folders: folders}
	endpoint, header, err := deliver.FindEndpoint(os.Getenv)
	isAddress := strings.Contains(to, "://")
	if form.Name == "otlp" && (to == "" || isAddress) {
		if err != nil {
			return nil, cmdline.Usagef("%v", err)
		}
		if to != "" {
			if endpoint, err = deliver.ParseEndpoint(to); err != nil {
				return nil, cmdline.Usagef("--to %.200q: %v", to, err)
			}
		}
		if endpoint != nil {
			return func() (deliver.Sink, error) {
				return deliver.NewOTLP(endpoint, header, network.NewTransport(egress.Options{}), source), nil
			}, nil
		}
	}
	if bareAddress().MatchString(to) {
		return nil, cmdline.Usagef("--to %.200q: is it an address? Write the scheme too, like https://HOST:4318 or syslog+tls://HOST:6514; of a file, ./NAME", to)
	}
	if !isAddress {
		return func() (deliver.Sink, error) { return openLines(to, form, source, c.App.Writer) }, nil
	}
	address, err := parseSyslogAddress(to, form)
	if err != nil {
		return nil, err
	}
	write := form.Append
	if form.Name == "cef" {
		write = export.AppendCEFInSyslog
	}
	return func() (deliver.Sink, error) {
		return deliver.NewSyslog(address, network.NewTransport(egress.Options{}), write, source, note), nil
	}, nil
}

// parseSyslogAddress parses syslog+tls://HOST:PORT and returns HOST:PORT. The default port is 6514.
func parseSyslogAddress(to string, form export.Form) (string, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "syslog+tls" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", cmdline.Usagef("--to %.200q with --format %s: write a FILE, - or syslog+tls://HOST:PORT (with otlp, http://HOST:PORT or https://HOST:PORT)", to, form.Name)
	}
	if form.Name != "syslog" && form.Name != "cef" {
		return "", cmdline.Usagef("--to syslog+tls:// takes --format syslog or cef, not %s", form.Name)
	}
	port := u.Port()
	if port == "" {
		port = "6514"
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// openLines opens a file for appending. The parameter to is the path of the file. If it is "" or
// "-", openLines takes standard output.
func openLines(to string, form export.Form, source export.Source, out io.Writer) (deliver.Sink, error) {
	lines := &deliver.Lines{To: struct{ io.Writer }{out}, Append: form.Append, Source: source}
	if to == "" || to == "-" {
		return lines, nil
	}
	file, err := os.OpenFile(to, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, cmdline.Usagef("--to: %v", err)
	}
	lines.To = file
	// An export that was killed may have left an incomplete line, so a line end is added.
	last := make([]byte, 1)
	if fi, err := file.Stat(); err == nil && fi.Mode().IsRegular() && fi.Size() > 0 {
		if _, err := file.ReadAt(last, fi.Size()-1); err == nil && last[0] != '\n' {
			_, err = file.WriteString("\n")
			return lines, err
		}
	}
	return lines, nil
}

// sharedWriter is a writer that two goroutines use: the reader of the record and the sink.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (w *sharedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}

// exporter reads records and delivers them to a sink.
type exporter struct {
	dir    string
	filter audit.Filter
	noArgs bool
	warn   io.Writer
	sink   deliver.Sink
	cursor cursor
	calls  knownCalls
	doubts atomic.Int64 // number of damaged places, findings and refused events
}

func (x *exporter) note(text string) { fmt.Fprintf(x.warn, "clawai: %s\n", term.VisibleText(text)) }

// verifyRecord reports the findings of log verify. The export continues after findings, because the
// undamaged records are still useful.
func (x *exporter) verifyRecord() error {
	report, err := audit.Verify(x.dir, "", audit.Retention{})
	if err != nil {
		return err
	}
	const most = 10
	for i, f := range report.Findings {
		if i == most {
			x.note(fmt.Sprintf("and %d more findings; see: clawai log verify", len(report.Findings)-most))
			break
		}
		x.note("FINDING " + FindingText(f))
	}
	x.doubts.Add(int64(len(report.Findings)))
	return nil
}

// mostTogether is the maximum number of events in one delivery. 64 records of the maximum size are
// less than 16 MiB.
const mostTogether = 64

// run reads records and delivers them until the record ends or the user stops the command.
func (x *exporter) run(c *cli.Context) error {
	follow := c.Bool("follow")
	if follow { // no session may have created the folder yet
		if err := os.MkdirAll(x.dir, 0o700); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	reading, endReading := context.WithCancel(ctx)
	defer endReading()
	queue := make(chan *event.Entry, mostTogether)
	var readErr error
	go func() {
		defer close(queue)
		records := audit.Read(x.dir, x.filter)
		if follow {
			records = audit.Follow(reading, x.dir, x.filter)
		}
		_, readErr = record.ShowEach(x.countDamage(records), func(e *event.Entry) error { return x.queueEntry(reading, e, queue) }, x.warn)
	}()
	err := x.deliverAll(ctx, queue)
	endReading()
	for range queue { // waits until the reader has ended
	}
	interrupted := ctx.Err() != nil
	if errors.Is(readErr, context.Canceled) {
		readErr = nil
	}
	switch err = errors.Join(err, readErr, x.sink.Close()); {
	case err != nil:
		return err
	case interrupted:
		return &cmdline.ExitError{Code: cmdline.ExitInterrupted}
	case x.doubts.Load() > 0:
		return &cmdline.ExitError{Code: cmdline.ExitFailed}
	}
	return nil
}

// countDamage returns the same records as its argument. While they are read, it counts the damaged
// places among them.
func (x *exporter) countDamage(records iter.Seq2[event.Entry, error]) iter.Seq2[event.Entry, error] {
	return func(yield func(event.Entry, error) bool) {
		for e, err := range records {
			if _, ok := errors.AsType[*event.Damage](err); ok {
				x.doubts.Add(1)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// queueEntry queues a record. Before that, it adds data from the record of the call. It skips
// records that the filter does not select, and records that an earlier export has delivered.
func (x *exporter) queueEntry(ctx context.Context, e *event.Entry, queue chan<- *event.Entry) error {
	wanted := x.filter.Takes(e) || x.calls.has(e.Ref)
	if wanted && e.Kind == event.Decision {
		x.calls.add(e)
	}
	if !wanted || x.cursor.isTaken(e) {
		return nil
	}
	kept := *e
	x.calls.complete(&kept)
	if x.noArgs {
		kept.Args, kept.ArgsCut = nil, false
	}
	select {
	case queue <- &kept:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// graceTime is how long the delivery of queued records may continue after the user has stopped the
// command.
const graceTime = 5 * time.Second

// deliverAll delivers the queued records. Records that wait at the same time are delivered
// together.
func (x *exporter) deliverAll(ctx context.Context, queue <-chan *event.Entry) error {
	sending, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(graceTime, giveUp) })()
	taken := 0
	for first := range queue {
		batch := []*event.Entry{first}
	gather:
		for len(batch) < mostTogether {
			select {
			case e, ok := <-queue:
				if !ok {
					break gather
				}
				batch = append(batch, e)
			default:
				break gather
			}
		}
		err := x.sink.Deliver(sending, batch)
		if refused, ok := errors.AsType[*deliver.Refused](err); ok {
			x.doubts.Add(int64(refused.Many))
			x.note(fmt.Sprintf("of the records %s to %s %v", batch[0].Record, batch[len(batch)-1].Record, refused))
			err = nil
		}
		if err != nil {
			return fmt.Errorf("nothing from record %s on was taken for sure, %s before it: %w", batch[0].Record, cmdline.CountText(taken, "1 event", "%d events"), err)
		}
		taken += len(batch)
		if err := x.cursor.advance(batch); err != nil {
			return err
		}
	}
	return nil
}

// knownCalls has the latest exported calls. The record of an outcome has no names, so the names
// come from the record of its call.
type knownCalls struct {
	calls map[string]*event.Entry // without their arguments, by the id of the record of the call
	order []string
	size  int // bytes of all names
}

// These are the limits of knownCalls: the number of calls, and the bytes of their names.
const (
	mostKnown     = 16384
	mostKnownSize = 8 << 20
)

func (k *knownCalls) has(record string) bool { return record != "" && k.calls[record] != nil }

func (k *knownCalls) add(e *event.Entry) {
	if e.Record == "" || k.calls[e.Record] != nil {
		return
	}
	if k.calls == nil {
		k.calls = map[string]*event.Entry{}
	}
	call := &event.Entry{}
	call.Method, call.Subject, call.Names, call.ServerGuess, call.Server = e.Method, e.Subject, slices.Clone(e.Names), e.ServerGuess, e.Server
	call.Traceparent = strings.Clone(e.Traceparent)
	k.calls[e.Record] = call
	k.order = append(k.order, e.Record)
	k.size += sizeOf(call)
	for len(k.order) > 1 && (len(k.order) > mostKnown || k.size > mostKnownSize) {
		k.size -= sizeOf(k.calls[k.order[0]])
		delete(k.calls, k.order[0])
		k.order = k.order[1:]
	}
}

func sizeOf(call *event.Entry) (n int) {
	for _, name := range call.Names {
		n += len(name)
	}
	return n
}

// complete fills in empty fields of a record. It copies the values from the record of the call.
func (k *knownCalls) complete(e *event.Entry) {
	call := k.calls[e.Ref]
	if e.Ref == "" || call == nil {
		return
	}
	if e.Subject == "" && len(e.Names) == 0 {
		e.Subject, e.Names = call.Subject, call.Names
	}
	if e.Method == "" {
		e.Method = call.Method
	}
	if e.Traceparent == "" {
		e.Traceparent = call.Traceparent
	}
	if e.Server == "" && e.ServerGuess == "" {
		e.Server, e.ServerGuess = call.Server, call.ServerGuess
	}
}
