package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/gateway/store"
)

// steps are the steps of the schema, in order. A released step never changes. Each database replaces
// the words in braces: {int} is a number of 64 bits, and {bytes} a string of bytes. {serial} is a key
// that the database numbers. {strict} ends a table, and {keyed} ends a table that stores its rows in
// the order of their key. {unguard} drops the constraint against duplicate records in PostgreSQL,
// because a unique index replaces it; SQLite cannot drop it.
var steps = []string{firstStep, peopleStep, questionStep, titleStep, checkpointStep, keyStep, wayStep, outwardStep, workloadStep, listStep, proposalStep, labelStep}

// Times are nanoseconds since 1970. 0 means never.
const firstStep = `
CREATE TABLE enrolment (
	org          TEXT NOT NULL,
	device_hash  TEXT NOT NULL,
	user_hash    TEXT NOT NULL,
	name         TEXT NOT NULL,
	os           TEXT NOT NULL,
	version      TEXT NOT NULL,
	address      TEXT NOT NULL,
	created      {int} NOT NULL,
	expires      {int} NOT NULL,
	status       TEXT NOT NULL,
	polled       {int} NOT NULL DEFAULT 0,
	waits        {int} NOT NULL,
	laptop       TEXT NOT NULL DEFAULT '',
	decided_by   TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (org, device_hash),
	UNIQUE (org, user_hash)
){strict};

CREATE TABLE laptop (
	org          TEXT NOT NULL,
	id           TEXT NOT NULL,
	token_hash   TEXT NOT NULL,
	name         TEXT NOT NULL,
	os           TEXT NOT NULL,
	version      TEXT NOT NULL,
	enrolled     {int} NOT NULL,
	enrolled_by  TEXT NOT NULL,
	revoked      {int} NOT NULL DEFAULT 0,
	seen         {int} NOT NULL DEFAULT 0,
	report       TEXT NOT NULL DEFAULT '{}',
	shipped      {int} NOT NULL DEFAULT 0,
	bytes        {int} NOT NULL DEFAULT 0,
	records      {int} NOT NULL DEFAULT 0,
	findings     {int} NOT NULL DEFAULT 0,
	PRIMARY KEY (org, id)
){strict};

CREATE TABLE bundle (
	org          TEXT NOT NULL,
	counter      {int} NOT NULL,
	digest       TEXT NOT NULL,
	created      {int} NOT NULL,
	published    {int} NOT NULL,
	signer       TEXT NOT NULL,
	content      {bytes} NOT NULL,
	PRIMARY KEY (org, counter)
){strict};

CREATE TABLE segment (
	org          TEXT NOT NULL,
	laptop       TEXT NOT NULL,
	name         TEXT NOT NULL,
	session      TEXT NOT NULL,
	size         {int} NOT NULL,
	complete     {int} NOT NULL,
	arrival      TEXT NOT NULL,
	changed      {int} NOT NULL,
	PRIMARY KEY (org, laptop, name)
){strict};
CREATE INDEX segment_by_session ON segment (org, laptop, session, name);

CREATE TABLE part (
	org          TEXT NOT NULL,
	laptop       TEXT NOT NULL,
	segment      TEXT NOT NULL,
	begins       {int} NOT NULL,
	size         {int} NOT NULL,
	content      {bytes} NOT NULL,
	PRIMARY KEY (org, laptop, segment, begins)
){strict};

CREATE TABLE record (
	id           {serial},
	org          TEXT NOT NULL,
	laptop       TEXT NOT NULL,
	session      TEXT NOT NULL,
	seq          {int} NOT NULL,
	at           {int} NOT NULL,
	kind         TEXT NOT NULL,
	look         TEXT NOT NULL,
	server       TEXT NOT NULL,
	subject      TEXT NOT NULL,
	name         TEXT NOT NULL,
	method       TEXT NOT NULL,
	about        TEXT NOT NULL,
	code         TEXT NOT NULL,
	reason       TEXT NOT NULL,
	rule         TEXT NOT NULL,
	rule_text    TEXT NOT NULL,
	ref          TEXT NOT NULL,
	segment      TEXT NOT NULL,
	begins       {int} NOT NULL,
	size         {int} NOT NULL,
	UNIQUE (org, laptop, segment, begins)
){strict};
CREATE INDEX record_by_time ON record (org, at, id);
CREATE INDEX record_by_laptop ON record (org, laptop, at, id);
CREATE INDEX record_by_look ON record (org, look, at, id);
CREATE INDEX record_by_tool ON record (org, name, at, id);
CREATE INDEX record_by_server ON record (org, server, at, id);
CREATE INDEX record_by_rule ON record (org, rule, at, id);
CREATE INDEX record_by_kind ON record (org, kind, at, id);
CREATE INDEX record_by_session ON record (org, session, at, id);

CREATE TABLE tally (
	org          TEXT NOT NULL,
	hour         {int} NOT NULL,
	laptop       TEXT NOT NULL,
	server       TEXT NOT NULL,
	name         TEXT NOT NULL,
	look         TEXT NOT NULL,
	calls        {int} NOT NULL,
	PRIMARY KEY (org, hour, laptop, server, name, look)
){keyed};

CREATE TABLE finding (
	org          TEXT NOT NULL,
	laptop       TEXT NOT NULL,
	segment      TEXT NOT NULL,
	line         {int} NOT NULL,
	what         TEXT NOT NULL,
	note         {int} NOT NULL,
	found        {int} NOT NULL,
	PRIMARY KEY (org, laptop, segment, line, what)
){strict};
CREATE INDEX finding_by_time ON finding (org, note, found);

CREATE TABLE link (
	org          TEXT NOT NULL,
	hash         TEXT NOT NULL,
	who          TEXT NOT NULL,
	expires      {int} NOT NULL,
	PRIMARY KEY (org, hash)
){strict};

CREATE TABLE signed_in (
	org          TEXT NOT NULL,
	hash         TEXT NOT NULL,
	who          TEXT NOT NULL,
	expires      {int} NOT NULL,
	PRIMARY KEY (org, hash)
){strict};
`

// peopleStep stores people as JSON of package principal. The first step stored only their names. The
// step ends all sessions, so people must sign in again.
const peopleStep = `
ALTER TABLE enrolment ADD COLUMN decider TEXT NOT NULL DEFAULT '';

ALTER TABLE laptop ADD COLUMN owner_key TEXT NOT NULL DEFAULT '';

ALTER TABLE laptop ADD COLUMN owner TEXT NOT NULL DEFAULT '{}';

ALTER TABLE laptop ADD COLUMN revoked_by TEXT NOT NULL DEFAULT '';
CREATE INDEX laptop_by_owner ON laptop (org, owner_key);

DELETE FROM signed_in;

ALTER TABLE signed_in ADD COLUMN person TEXT NOT NULL DEFAULT '{}';
`

// questionStep stores questions. digest is the digest of the calls, and asks is the text of asksOf.
// Both find an open question that equals a new one.
const questionStep = `
CREATE TABLE question (
	org          TEXT NOT NULL,
	id           TEXT NOT NULL,
	laptop       TEXT NOT NULL,
	digest       TEXT NOT NULL,
	asks         TEXT NOT NULL,
	asked        TEXT NOT NULL,
	created      {int} NOT NULL,
	held         {int} NOT NULL,
	expires      {int} NOT NULL,
	state        TEXT NOT NULL,
	decided      {int} NOT NULL DEFAULT 0,
	PRIMARY KEY (org, id)
){strict};
CREATE INDEX question_by_time ON question (org, created, id);
CREATE INDEX question_by_laptop ON question (org, laptop, state, digest);

CREATE TABLE vote (
	org          TEXT NOT NULL,
	question     TEXT NOT NULL,
	voter        TEXT NOT NULL,
	place        {int} NOT NULL,
	principal    TEXT NOT NULL,
	allows       {int} NOT NULL,
	words        TEXT NOT NULL,
	at           {int} NOT NULL,
	PRIMARY KEY (org, question, voter)
){strict};
`

// titleStep stores the headline of a question, because computing it from a long call takes a second and
// lists show many questions.
const titleStep = `
ALTER TABLE question ADD COLUMN title TEXT NOT NULL DEFAULT '';
`

// checkpointStep stores the tree of heads. logged is twice the size in the segment's newest head, plus
// 1 if the head says that the segment is complete. It is -1 if the segment has no head.
const checkpointStep = `
ALTER TABLE segment ADD COLUMN sum TEXT NOT NULL DEFAULT '';

ALTER TABLE segment ADD COLUMN logged {int} NOT NULL DEFAULT -1;
CREATE INDEX segment_unlogged ON segment (org, changed) WHERE logged < 2 * size + complete;

CREATE TABLE head (
	org          TEXT NOT NULL,
	number       {int} NOT NULL,
	laptop       TEXT NOT NULL,
	segment      TEXT NOT NULL,
	size         {int} NOT NULL,
	digest       TEXT NOT NULL,
	complete     {int} NOT NULL,
	PRIMARY KEY (org, number)
){strict};
CREATE INDEX head_by_segment ON head (org, laptop, segment, number);

CREATE TABLE tree (
	org          TEXT NOT NULL,
	place        {int} NOT NULL,
	hash         {bytes} NOT NULL,
	PRIMARY KEY (org, place)
){keyed};

CREATE TABLE checkpoint (
	org          TEXT NOT NULL,
	size         {int} NOT NULL,
	made         {int} NOT NULL,
	note         TEXT NOT NULL,
	PRIMARY KEY (org, size)
){strict};
`

// keyStep stores keys of machines. roles is a list in JSON.
const keyStep = `
CREATE TABLE machine_key (
	org          TEXT NOT NULL,
	id           TEXT NOT NULL,
	hash         TEXT NOT NULL,
	name         TEXT NOT NULL,
	roles        TEXT NOT NULL,
	created      {int} NOT NULL,
	expires      {int} NOT NULL,
	ends         {int} NOT NULL DEFAULT 0,
	revoked      {int} NOT NULL DEFAULT 0,
	used         {int} NOT NULL DEFAULT 0,
	PRIMARY KEY (org, id)
){strict};
`

// wayStep stores how an answer came: page, command line or Slack.
const wayStep = `
ALTER TABLE vote ADD COLUMN way TEXT NOT NULL DEFAULT '';
`

// outwardStep stores the messages that the centre sent about questions, and the people who have signed
// in. A person who answers elsewhere, such as in Slack, is found in the table person.
const outwardStep = `
CREATE TABLE delivery (
	org          TEXT NOT NULL,
	question     TEXT NOT NULL,
	way          TEXT NOT NULL,
	reference    TEXT NOT NULL,
	told         TEXT NOT NULL,
	is_open      {int} NOT NULL,
	tries        {int} NOT NULL,
	next         {int} NOT NULL,
	PRIMARY KEY (org, question, way)
){strict};
CREATE INDEX delivery_by_way ON delivery (org, way, is_open, question);

CREATE TABLE person (
	org          TEXT NOT NULL,
	who          TEXT NOT NULL,
	email        TEXT NOT NULL,
	person       TEXT NOT NULL,
	PRIMARY KEY (org, who)
){strict};
CREATE INDEX person_by_email ON person (org, email);
`

// workloadStep stores the used tokens that may be used only once, the last workload that each rule let
// in, and the publisher of a bundle.
const workloadStep = `
CREATE TABLE used_token (
	org          TEXT NOT NULL,
	hash         TEXT NOT NULL,
	until        {int} NOT NULL,
	PRIMARY KEY (org, hash)
){strict};
CREATE INDEX used_token_by_time ON used_token (org, until);

CREATE TABLE workload_use (
	org          TEXT NOT NULL,
	rule         TEXT NOT NULL,
	issuer       TEXT NOT NULL,
	subject      TEXT NOT NULL,
	used         {int} NOT NULL,
	PRIMARY KEY (org, rule)
){strict};

ALTER TABLE bundle ADD COLUMN published_by TEXT NOT NULL DEFAULT '';
`

// listStep makes lists of records fast and indexes small. An index holds only the records that a filter
// selects. The database compares a column after the id inside the index, without a look at the record.
// The tally has no column laptop any more, because the first page only sums the calls of a day. The
// column place is the number of a writer, so that two writers do not wait for each other.
const listStep = `
DROP INDEX record_by_look;
CREATE INDEX record_by_look ON record (org, look, at, id) WHERE ` + isRareLook + `;
CREATE INDEX record_by_look_laptop ON record (org, look, laptop, at, id) WHERE ` + isRareLook + `;
CREATE INDEX record_by_look_rule ON record (org, look, rule, at, id) WHERE ` + isRareLook + `;
CREATE INDEX record_by_look_tool ON record (org, look, name, at, id, server) WHERE ` + isRareLook + `;
CREATE INDEX record_by_look_server ON record (org, look, server, at, id) WHERE ` + isRareLook + `;

DROP INDEX record_by_kind;
CREATE INDEX record_by_kind ON record (org, kind, at, id) WHERE ` + isRareKind + `;
CREATE INDEX record_by_kind_tool ON record (org, kind, name, at, id, server) WHERE ` + isRareKind + `;
CREATE INDEX record_by_kind_server ON record (org, kind, server, at, id) WHERE ` + isRareKind + `;

DROP INDEX record_by_tool;
CREATE INDEX record_by_tool ON record (org, name, at, id, server, look) WHERE ` + isNamed + `;

DROP INDEX record_by_rule;
CREATE INDEX record_by_rule ON record (org, rule, at, id, look) WHERE ` + isRuled + `;

{unguard};
CREATE UNIQUE INDEX record_by_place ON record (org, laptop, session, seq, segment, begins);

DROP INDEX finding_by_time;
CREATE INDEX finding_by_time ON finding (org, note, found DESC, segment, line, what);

ALTER TABLE tally RENAME TO tally_before;

CREATE TABLE tally (
	org          TEXT NOT NULL,
	hour         {int} NOT NULL,
	place        {int} NOT NULL,
	server       TEXT NOT NULL,
	name         TEXT NOT NULL,
	look         TEXT NOT NULL,
	calls        {int} NOT NULL,
	PRIMARY KEY (org, hour, place, server, name, look)
){keyed};

INSERT INTO tally (org, hour, place, server, name, look, calls) SELECT org, hour, 0, server, name, look, sum(calls) FROM tally_before GROUP BY org, hour, server, name, look;

DROP TABLE tally_before;
`

// proposalStep stores proposals: bundles that people must put into force, and the outcome. Proposals
// have their own table, because older programs know no proposals and take every row of the table bundle
// as put into force. publisher and votes are JSON.
const proposalStep = `
CREATE TABLE proposal (
	org          TEXT NOT NULL,
	counter      {int} NOT NULL,
	digest       TEXT NOT NULL,
	created      {int} NOT NULL,
	published    {int} NOT NULL,
	signer       TEXT NOT NULL,
	published_by TEXT NOT NULL,
	publisher    TEXT NOT NULL,
	content      {bytes} NOT NULL,
	state        TEXT NOT NULL,
	decided      {int} NOT NULL DEFAULT 0,
	decided_by   TEXT NOT NULL DEFAULT '',
	votes        TEXT NOT NULL DEFAULT '[]',
	PRIMARY KEY (org, counter)
){strict};
`

// labelStep stores the labels that led to questions and refusals: in a record as a set of the bits of
// policy.Seen, and in label_tally as their calls by hour. Each label has an index of its records, because
// few records have one.
const labelStep = `
ALTER TABLE record ADD COLUMN labels {int} NOT NULL DEFAULT 0;
CREATE INDEX record_by_untrusted ON record (org, at, id) WHERE (labels & 2) <> 0;
CREATE INDEX record_by_private ON record (org, at, id) WHERE (labels & 4) <> 0;
CREATE INDEX record_by_secret ON record (org, at, id) WHERE (labels & 8) <> 0;

CREATE TABLE label_tally (
	org          TEXT NOT NULL,
	hour         {int} NOT NULL,
	place        {int} NOT NULL,
	label        {int} NOT NULL,
	look         TEXT NOT NULL,
	calls        {int} NOT NULL,
	PRIMARY KEY (org, hour, place, label, look)
){keyed};
`

// Conditions of partial indexes. The database uses a partial index only for a statement with exactly
// the same condition.
const (
	isRareLook = "(look = 'asked' OR look = 'refused')"
	isRareKind = "kind <> 'decision' AND kind <> 'outcome'"
	isNamed    = "name <> ''"
	isRuled    = "rule <> ''"
)

func newerError(version int) error {
	return fmt.Errorf("%w (it has schema %d, this one knows %d)", store.ErrNewer, version, len(steps))
}

// migrate adds the missing steps to the schema. It returns an error if a newer gateway made the
// database.
func (s *Store) migrate(ctx context.Context) error {
	return s.change(ctx, func(t *transaction) error {
		if s.d.migrate != "" {
			if _, err := t.exec(s.d.migrate); err != nil {
				return err
			}
		}
		if err := t.lockAll(); err != nil {
			return err
		}
		if _, err := t.exec("CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value " + s.d.types["{int}"] + " NOT NULL)"); err != nil {
			return err
		}
		var version int
		err := t.row("SELECT value FROM about WHERE name = 'schema'").Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			_, err = t.exec("INSERT INTO about VALUES ('schema', 0)")
		}
		if err != nil {
			return err
		}
		if version > len(steps) {
			return newerError(version)
		}
		for i := version; i < len(steps); i++ {
			for statement := range strings.SplitSeq(steps[i], ";\n") {
				statement = s.d.writeTypes(statement)
				if strings.Trim(statement, " \t\n;") == "" {
					continue
				}
				if _, err := t.exec(statement); err != nil {
					return fmt.Errorf("step %d of the schema: %w", i+1, err)
				}
			}
			if _, err := t.exec("UPDATE about SET value = ? WHERE name = 'schema'", i+1); err != nil {
				return err
			}
		}
		return nil
	})
}
