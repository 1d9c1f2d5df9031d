package inspect

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
)

// Limits of a table: the length of its first line in bytes, and the number of its columns.
const (
	maxHead    = 512
	maxColumns = 64
)

// accounts are names of columns that show to which account a password belongs.
var accounts = strings.Fields("user username login login_username email e-mail mail url uri login_uri host hostname server account title name id key site website")

// tableSecrets returns, in order, the secrets in tables: CSV from browsers, password managers and
// clouds, and Markdown tables. A secret is a value in a column with the name of a secret, if
// another column names the account or is also a secret.
func tableSecrets(t string) (known []redact.Span) {
	if strings.IndexByte(t, '\n') < 0 {
		return nil // a table has at least two lines
	}
	for at := 0; at < len(t); {
		line, next := lineAt(t, at)
		mark := strings.IndexAny(line[:min(len(line), maxHead)], ",;\t|")
		if mark < 0 || len(line) > maxHead || strings.ContainsAny(line, "=:(){}<>'$") || strings.Contains(line, ", ") /* in a sentence */ {
			at = next
			continue
		}
		sep := line[mark]
		secret, columns := secretColumns(line, sep)
		if secret == 0 {
			at = next
			continue
		}
		for at = next; at < len(t); at = next {
			line, next = lineAt(t, at)
			n, first := 0, len(known)
			visitCells(line, sep, func(from, to int) {
				value := line[from:to]
				if n < maxColumns && secret>>n&1 > 0 && len(value) > 5 && !strings.Contains(value, " ") && strings.ContainsAny(value, "0123456789") && !standsIn(value) {
					known = append(known, redact.Span{Start: at + from, End: at + to, Kind: "password", Placed: true})
				}
				n++
			})
			if n != columns {
				known = known[:first]
				break
			}
		}
	}
	return known
}

// lineAt returns the line that begins at an offset, without its line end. The result next is the
// offset of the next line.
func lineAt(t string, at int) (line string, next int) {
	n := strings.IndexByte(t[at:], '\n')
	if n < 0 {
		return t[at:], len(t)
	}
	return strings.TrimSuffix(t[at:at+n], "\r"), at + n + 1
}

// secretColumns reads the first line of a table. secret has a bit for each column with the name of
// a secret. columns is the number of columns. Both are 0 if this is no first line of a table with
// secrets.
func secretColumns(line string, sep byte) (secret uint64, columns int) {
	const longest = 40
	named, sound := false, true
	visitCells(line, sep, func(from, to int) {
		cell := line[from:to]
		sound = sound && columns < maxColumns && len(cell) <= longest
		switch {
		case !sound:
		case redact.NamesSecret(cell):
			named = named || secret > 0 // two columns of secrets are enough, such as the id of a key and the key
			secret |= 1 << columns
		default:
			named = named || slices.ContainsFunc(accounts, func(account string) bool { return strings.EqualFold(account, cell) })
		}
		columns++
	})
	if !named || !sound {
		return 0, 0
	}
	return secret, columns
}

// visitCells visits the cells of a line: line[from:to] is a cell without the blanks and quotes
// around it.
func visitCells(line string, sep byte, visit func(from, to int)) {
	for at := 0; at <= len(line); {
		end := at
		if strings.HasPrefix(line[at:], `"`) {
			for end++; end < len(line) && (line[end] != '"' || end+1 < len(line) && line[end+1] == '"'); end++ {
				if line[end] == '"' {
					end++
				}
			}
			end = min(end+1, len(line))
		}
		if n := strings.IndexByte(line[end:], sep); n >= 0 {
			end += n
		} else {
			end = len(line)
		}
		cell := line[at:end]
		from := at + len(cell) - len(strings.TrimLeft(cell, "\" \t"))
		visit(from, max(from, at+len(strings.TrimRight(cell, "\" \t"))))
		at = end + 1
	}
}
