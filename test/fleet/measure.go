//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/state/enrolment"
)

// latencies collects durations from several goroutines.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

// text returns the minimum, the median and the 99th percentile as a text. Other work on the machine
// has the least effect on the minimum.
func (l *latencies) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		return "-"
	}
	slices.Sort(l.all)
	of := func(share float64) float64 { return l.all[int(share*float64(len(l.all)-1))].Seconds() * 1000 }
	return fmt.Sprintf("%.1f, %.1f, %.1f ms", of(0), of(0.5), of(0.99))
}

// watchMemory measures the centre's resident memory twelve times. The measurements end at about the
// time that the parameter until gives. It returns the values in MiB.
func (f *fleet) watchMemory(ctx context.Context, until time.Time) (all []int64) {
	for every := time.Until(until) / 12; time.Until(until) > every/2; {
		select {
		case <-ctx.Done():
			return all
		case <-time.After(every):
		}
		if n, err := readResident(f.process.Process.Pid); err == nil {
			all = append(all, n>>20)
		}
	}
	return all
}

// The limits of checkMemory. It checks runs of at least flatMinutes minutes. The maximum in the
// last quarter of a run may be at most flatMore MiB above the maximum in the second quarter.
const (
	flatMinutes = 10
	flatMore    = 32
)

// checkMemory returns an error if the centre's memory has grown during a long run.
func (f *fleet) checkMemory(all []int64) error {
	n := len(all)
	if f.minutes < flatMinutes || n < 8 {
		return nil
	}
	early, late := slices.Max(all[n/4:n/2]), slices.Max(all[3*n/4:])
	if late > early+flatMore {
		return fmt.Errorf("the centre's memory grew from %d MiB in the second quarter to %d MiB in the last one", early, late)
	}
	return nil
}

// readMeanwhile loads the first page again and again, like a person who watches the page. It stops
// at the time that the parameter until gives.
func (f *fleet) readMeanwhile(ctx context.Context, until time.Time, waits *latencies) error {
	for time.Now().Before(until) {
		began := time.Now()
		if _, err := f.visit(ctx, "/"); err != nil {
			return err
		}
		waits.add(time.Since(began))
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}

// checkShipped returns an error if the number of records in the database is not the number that the
// centre has acknowledged. It also returns an error if the database has findings.
func (f *fleet) checkShipped(ctx context.Context) error {
	got, err := f.askDatabase(ctx, database, "SELECT count(*) FROM record; SELECT coalesce(sum(records), 0) FROM laptop; SELECT count(*) FROM finding; VACUUM ANALYZE; CHECKPOINT;")
	if want := fmt.Sprintf("%d\n%[1]d\n0", f.shipped.Load()); err == nil && got != want {
		err = fmt.Errorf("records, records by laptop and findings in the database are %q, and should be %q", got, want)
	}
	return err
}

// poll measures requests for the bundle. The laptops already have the newest bundle, so the centre
// answers with status 304.
func (f *fleet) poll(ctx context.Context) error {
	if _, err := f.send(ctx, f.laptops[0], http.MethodGet, enrolment.BundlePath, nil, nil); err != nil {
		return err
	}
	before, err := f.readUsage()
	if err != nil {
		return err
	}
	began := time.Now()
	var waits latencies
	var asking sync.WaitGroup
	const askers = 16
	failed := make([]error, askers)
	for i := range askers {
		asking.Go(func() {
			for n := i; n < f.polls && failed[i] == nil; n += askers {
				begun := time.Now()
				status, err := f.send(ctx, f.laptops[n%len(f.laptops)], http.MethodGet, enrolment.BundlePath, nil, nil)
				if err == nil && status != http.StatusNotModified {
					err = fmt.Errorf("the bundle that the laptop has is sent again: %d", status)
				}
				failed[i] = err
				waits.add(time.Since(begun))
			}
		})
	}
	asking.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := f.readUsage()
	if err != nil {
		return err
	}
	used, n := after.since(before), float64(f.polls)
	fmt.Fprintf(f.out, "| answers of 304 a second, %d at once | %.0f |\n| processor time of an answer: centre, database | %.0f µs, %.0f µs |\n| an answer, least, p50, p99 | %s |\n",
		askers, n/took.Seconds(), 1e6*used.centre.Seconds()/n, 1e6*used.database.Seconds()/n, waits.text())
	return nil
}

// fillStatements adds copies of uploaded records to the database. The times of the copies are
// spread over thirty days, and each session gets 200 records. The database has only the index
// entries of the copies and not their lines, so only lists of records can show them.
const fillStatements = `
INSERT INTO record (org, laptop, session, seq, at, kind, look, server, subject, name, method, about, code, reason, rule, rule_text, ref, segment, begins, size)
SELECT r.org, l.id, substr(md5((n / 200)::text), 1, 10), n %% 200, %d - (30 * 86400 * 1000000000::float8 * random())::bigint, r.kind, r.look, r.server, r.subject, r.name, r.method, r.about, r.code, r.reason,
	r.rule, r.rule_text, r.ref, substr(md5((n / 200)::text), 1, 10) || '.filled', n, r.size
FROM generate_series(1, %d) n
JOIN (SELECT row_number() OVER () AS number, * FROM (SELECT * FROM record ORDER BY id LIMIT 5000) first) r ON r.number = 1 + n %% (SELECT least(5000, count(*)) FROM record)
JOIN (SELECT row_number() OVER () AS number, id FROM laptop) l ON l.number = 1 + (n / 200) %% %d;
`

// Adding many rows is faster without indexes. So these statements drop the indexes before the rows
// are added, and create them again afterwards.
const (
	dropIndexes = `
SET synchronous_commit = off;
CREATE TEMPORARY TABLE making AS SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'record' AND indexname NOT IN (SELECT conname FROM pg_constraint);
DO $$ DECLARE i record; BEGIN FOR i IN SELECT * FROM making LOOP EXECUTE 'DROP INDEX ' || i.indexname; END LOOP; END $$;`
	makeIndexes = `
SET maintenance_work_mem = '256MB';
DO $$ DECLARE i record; BEGIN FOR i IN SELECT * FROM making LOOP EXECUTE i.indexdef; END LOOP; END $$;`
)

// fill adds records to the database until it has the number of records that --records gives.
func (f *fleet) fill(ctx context.Context) error {
	more := f.records - int(f.shipped.Load())
	if more <= 0 {
		return nil
	}
	began := time.Now()
	if _, err := f.askDatabase(ctx, database, dropIndexes+fmt.Sprintf(fillStatements, time.Now().UnixNano(), more, len(f.laptops))+makeIndexes+tallyStatement+"VACUUM ANALYZE; CHECKPOINT;"); err != nil {
		return err
	}
	size, err := f.askDatabase(ctx, database, "SELECT pg_size_pretty(pg_total_relation_size('record')) || ', of it indexes ' || pg_size_pretty(pg_indexes_size('record'))")
	fmt.Fprintf(f.out, "\n%d records filled in %.0f s; the table of records has %s\n", more, time.Since(began).Seconds(), size)
	return err
}

// listed is a page to measure.
type listed struct{ name, path string }

// choosePages returns the pages to measure. The values of their filters are taken from records in
// the database.
func (f *fleet) choosePages(ctx context.Context) ([]listed, error) {
	found, err := f.askDatabase(ctx, database, `SELECT laptop || '|' || server || '|' || name || '|' || rule || '|' || id FROM record WHERE look = 'refused' AND segment NOT LIKE '%.filled' ORDER BY id LIMIT 1;
SELECT at || '-' || id FROM record ORDER BY at DESC, id DESC OFFSET (SELECT count(*) / 2 FROM record) LIMIT 1;
SELECT 'laptop=' || laptop || '&session=' || session FROM record ORDER BY segment LIKE '%.filled' DESC, id LIMIT 1;`)
	if err != nil {
		return nil, err
	}
	rows := strings.Split(found, "\n")
	v := strings.Split(rows[0], "|")
	if len(rows) != 3 || len(v) != 5 {
		return nil, fmt.Errorf("no record is refused: %q", found)
	}
	middle, session := rows[1], rows[2] // a session of one laptop only, if fill has added records
	escape := func(s string) string { return strings.NewReplacer("/", "%2F", ":", "%3A", "~", "%7E").Replace(s) }
	laptop, server, tool, rule, id := v[0], v[1], v[2], escape(v[3]), v[4]
	of := func(filter string) listed { return listed{"records, " + filter, "/records?" + filter} }
	with := func(shown, filter string) listed { return listed{"records, " + shown, "/records?" + filter} }
	return []listed{
		{"overview, the first page", "/"}, {"laptops", "/laptops"}, {"one laptop", "/laptops/" + laptop}, {"questions", "/questions"}, {"bundles", "/bundles"}, {"one record", "/records/" + id},
		{"records", "/records"}, of("kind=all"), of("kind=outcome"), of("kind=answered"), of("decision=allowed"), of("decision=asked"), of("decision=refused"), of("since=24h"),
		of("since=20d&until=19d"), with("half way down", "before="+middle), with("server", "server="+server), with("tool", "tool="+tool), with("a tool that is not there", "tool=none"),
		with("rule", "rule="+rule), with("laptop", "laptop="+laptop), with("laptop and kind", "laptop="+laptop+"&kind=answered"), with("laptop and decision", "laptop="+laptop+"&decision=refused"),
		with("laptop and tool", "laptop="+laptop+"&tool="+tool), with("laptop and server", "laptop="+laptop+"&server="+server), with("session", "kind=all&"+session),
		with("decision, server, tool", "decision=refused&server="+server+"&tool="+tool), with("decision and server", "decision=asked&server="+server), with("server and another's tool", "server=none&tool="+tool),
		with("allowed and rule that denies", "decision=allowed&rule="+rule), with("kind and tool", "kind=answered&tool="+tool), with("tool in a week", "since=7d&tool="+tool), with("laptop in an old day", "since=20d&until=19d&laptop="+laptop),
	}, nil
}

// scansStatement returns how often PostgreSQL has read the whole table of records.
const scansStatement = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'record'"

// measurePages loads all pages one after another. It does this as often as the options say, each
// time in a new random order.
func (f *fleet) measurePages(ctx context.Context) error {
	pages, err := f.choosePages(ctx)
	if err != nil {
		return err
	}
	scansBefore, err := f.askDatabase(ctx, database, scansStatement)
	if err != nil {
		return err
	}
	logged, err := f.readLog(0)
	if err != nil {
		return err
	}
	waits, sizes := make([]latencies, len(pages)), make([]int, len(pages))
	for range f.requests {
		for _, i := range rand.Perm(len(pages)) { //nolint:gosec // the order does not have to be secret
			began := time.Now()
			body, err := f.visit(ctx, pages[i].path)
			if err != nil {
				return err
			}
			waits[i].add(time.Since(began))
			sizes[i] = strings.Count(string(body), `href="/records/`)
		}
	}
	fmt.Fprintf(f.out, "\n%d requests of each page at %d records, load %s\n\n| page | records on it | least, p50, p99 |\n|---|---|---|\n", f.requests, max(int64(f.records), f.shipped.Load()), readLoad())
	for i := range pages {
		fmt.Fprintf(f.out, "| %s | %d | %s |\n", pages[i].name, sizes[i], waits[i].text())
	}
	if f.explain {
		plans, err := f.readLog(len(logged))
		if err != nil {
			return err
		}
		fmt.Fprintf(f.out, "\n%s", plans)
	}
	return f.checkScans(ctx, scansBefore)
}

// readLog returns the end of the database's log. The parameter from is the offset where this part
// begins.
func (f *fleet) readLog(from int) ([]byte, error) {
	src, err := os.ReadFile(filepath.Join(f.postgres.Dir, "log"))
	return src[min(from, len(src)):], err
}

// checkScans returns an error if loading a page has read the whole table of records. It waits
// eleven seconds first, because an idle connection of PostgreSQL may need ten seconds to update its
// statistics.
func (f *fleet) checkScans(ctx context.Context, before string) error {
	time.Sleep(11 * time.Second)
	after, err := f.askDatabase(ctx, database, scansStatement)
	if err == nil && after != before {
		err = fmt.Errorf("pages have read the whole table of records: it was read %s times before them, and %s times behind them", before, after)
	}
	return err
}

// tallyStatement adds the copies of fillStatements to the tally. The centre itself counts only
// uploaded records.
const tallyStatement = `
INSERT INTO tally (org, hour, place, server, name, look, calls)
SELECT org, at / 3600000000000 * 3600000000000, get_byte(decode(md5(laptop), 'hex'), 0) % 4, server, name, look, count(*) FROM record WHERE look <> '' AND segment LIKE '%.filled' GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT (org, hour, place, server, name, look) DO UPDATE SET calls = tally.calls + excluded.calls;
`
