package sql

import "sync"

// queries are the words with which a query begins.
var queries = lazySet("select with values table")

// neverAnywhere are words that do not occur anywhere in a statement that only reads. The reasons:
// SELECT … INTO creates a table or a file, and a common table expression of Postgres may contain a
// statement that writes.
const neverAnywhere = `
	into insert update delete merge replace drop alter create truncate grant revoke
	exec execute outfile dumpfile delimiter`

// writersAll are the first words of statements that do more than read. Some of these statements are
// harmless alone (COMMIT, SET). But they end the transaction, or change the session of the later
// statements.
const writersAll = neverAnywhere + `
	abort add analyse analyze attach backup begin binlog bulk cache call change checkpoint clone close
	cluster comment commit copy dbcc deallocate declare deny detach disable discard do enable end exec
	execute export fetch flush get goto go handler if import install kill listen load lock move
	notify open optimize prepare print purge raiserror reassign receive reconfigure refresh reindex
	release rename repair reset resignal restart restore revert rollback save savepoint security send
	set setuser shutdown signal start stop throw unlisten uninstall unload unlock updatetext upsert use vacuum
	waitfor while writetext xa`

// starters maps the first word of a T-SQL statement to the word that must follow it, because the
// first word alone is no keyword. The value is "" if any word may follow.
var starters = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"add": "", "backup": "", "begin": "", "bulk": "", "checkpoint": "", "close": "", "commit": "",
		"dbcc": "", "deallocate": "", "declare": "", "deny": "", "go": "", "goto": "", "kill": "", "load": "",
		"open": "", "print": "", "raiserror": "", "readtext": "", "receive": "", "reconfigure": "",
		"restore": "", "revert": "", "rollback": "", "save": "", "set": "", "setuser": "", "shutdown": "",
		"throw": "", "updatetext": "", "use": "", "waitfor": "", "while": "", "writetext": "",
		"disable": "trigger", "enable": "trigger", "end": "conversation", "get": "conversation",
		"move": "conversation", "send": "on",
	}
})

// locks are the words after FOR that lock rows.
var locks = lazySet("update share no key")

// lockHints are the table hints of T-SQL that take locks. Other statements may have to wait for
// these locks.
const lockHints = "holdlock paglock rowlock serializable tablock tablockx updlock xlock"

// explainOptions are the parenthesized options of Postgres' EXPLAIN.
var explainOptions = lazySet(`
	analyze verbose costs settings generic_plan buffers wal timing summary memory serialize format
	text xml json yaml on off true false none binary`)

// pragmasRead are the pragmas of SQLite that, without an argument, only return a value.
// pragmasLookUp have an argument that names the thing to look up (sqlite.org/pragma.html).
// journal_mode and similar pragmas are missing, because reading them opens the journal.
var (
	pragmasRead = lazySet(`
		application_id auto_vacuum automatic_index busy_timeout cache_size cache_spill collation_list
		compile_options data_version database_list defer_foreign_keys encoding foreign_keys
		freelist_count function_list legacy_alter_table max_page_count mmap_size
		module_list page_count page_size pragma_list query_only read_uncommitted recursive_triggers
		schema_version secure_delete synchronous temp_store threads trusted_schema user_version
		wal_autocheckpoint`)
	pragmasLookUp = lazySet(`
		foreign_key_check foreign_key_list index_info index_list index_xinfo integrity_check quick_check
		table_info table_list table_xinfo`)
)

// Keywords that are not functions although a parenthesis may follow them: keywords of clauses,
// operators and types.
const (
	keywordsAll = `
		all and any array as between bigint bit blob boolean by case char character columns cross cube
		dec decimal distinct double else except exists exclude filter float from full
		group having in inner int integer intersect interval is isnull join lateral left like limit
		materialized minus natural nchar not notnull null numeric nvarchar offset on only or order
		outer over partition precision real right rollup row rows select sets similar smallint some
		then time timestamp to top union using values varbinary varchar varying when where
		with within xor except escape`
	keywordsPostgres = `
		bernoulli bpchar float4 float8 for grouping ilike int2 int4 int8 numrange repeatable second symmetric
		asymmetric timestamptz timetz varbit variadic xmlattributes xmlnamespaces passing path ordinality overlaps`
	keywordsMySQL = `
		against binary datetime div duplicate force ignore index key match member mod of regexp rlike
		separator signed straight_join tinyint mediumint unsigned use year`
	keywordsSQLite    = "glob match regexp"
	keywordsSQLServer = `
		apply contained datetime2 datetimeoffset index max option percent pivot rowguid unpivot path root
		forceseek xmlnamespaces`
)

// callablePostgres are the keywords above that can also be function names in Postgres, because
// Postgres does not reserve them (types U and T in pg_get_keywords), or because they are not
// keywords there.
const callablePostgres = `
	bernoulli blob by columns cross cube double escape exclude filter full ilike inner is isnull join
	like materialized minus natural notnull nvarchar ordinality outer over overlaps partition
	passing path repeatable rollup rows second sets similar timetz top varbinary varying within xor`

// callableMySQL are those of the keywords above that may be the name of a function in
// MySQL or MariaDB: MariaDB accepts a CREATE FUNCTION with such a name and calls the
// function.
const callableMySQL = `
	against array asymmetric bernoulli bpchar columns cube duplicate escape exclude filter full
	lateral materialized member minus notnull numrange of only ordinality overlaps passing
	path repeatable rollup sets similar symmetric timestamptz timetz top varbit variadic within
	xmlattributes xmlnamespaces`

// infix holds keywords that stand between two operands or two tables, and types that stand after
// the name of a column. The names around these words do not matter.
var infix = lazySet(`
	apply cross div glob ilike inner is isnull join like match mod natural notnull outer regexp rlike
	straight_join xor
	blob double nvarchar timetz varbinary`)

// operandFollows are the words after which an operand and not an operator follows. They are from
// the grammar of PostgreSQL 15 (gram.y: the words before an expression or a table), and MySQL's
// modifiers of SELECT and operators.
var operandFollows = lazySet(`
	all and any array as asymmetric between both by case content default distinct document else escape
	except exists first for from groups having ilike in intersect is join lateral leading like limit next
	not offset on only or over passing path placing range ref returning rows select similar some
	symmetric then to trailing union using value values variadic version when where with xor zone
	binary collate distinctrow div high_priority interval mod of regexp rlike separator
	sql_big_result sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache
	sql_small_result straight_join timestamp transaction`)

// usualFields are words that occur in the names of fields of composite types. A function with such
// a name and one argument probably does not write, because none of the words is a verb.
var usualFields = lazySet(`
	address age amount area at author birthday bottom building category city code color colour company
	country county created currency customer date day depth description district domain duration first
	firstname floor full fullname gender given height hour house iban id ids ip kind label language last
	lastname latitude left length level line line1 line2 lines lng locale location longitude max maximum
	middle min minimum minute mode month name names nick number of offset organization owner parent
	percent person phone place position post postal postcode price priority product province quantity
	radius ratio region right role room salutation second section serial sha size sku slug speed state
	status street suburb sum supplier surname tags tax temperature timestamp timezone title top total town
	type unit units updated upper url user username valid value values vat version visible volume week
	weight width x y year z zip zipcode zone`)

// valueWords are values of Postgres without parentheses that may be in a FROM.
var valueWords = lazySet(`
	current_catalog current_date current_role current_schema current_time current_timestamp
	current_user localtime localtimestamp session_user system_user user`)

// notFunctions are words that are not functions although a parenthesis may follow them. An alias
// may follow the parenthesis: the alias of a table, or of an XMLTABLE whose columns are in the
// parenthesis.
var notFunctions = lazySet("from join lateral only using xmltable json_table")

// notAliases are reserved words that may follow a call.
var notAliases = lazySet(`
	and as asc cross desc else end except fetch for from full group having in inner intersect is join
	left like limit natural not offset on or order right then union when where`)

// otherOperators are operators of extensions (pgvector), and marks of the grammar with
// the same characters.
var otherOperators = lazySet("!= => <#> <=> <+> <~> <%>")
