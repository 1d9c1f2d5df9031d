package sqlstore

import (
	"fmt"
	"strings"
)

// rows holds the rows that one statement inserts into a table. It holds them as columns.
type rows struct {
	names   []string
	columns []any // each is a []string or a []int64, with as many elements as length says
	length  int
}

// textsOf adds a column of texts to r. The given function returns the text for one element of the slice
// all.
func textsOf[T any](r *rows, name string, all []T, get func(*T) string) {
	values := make([]string, len(all))
	for i := range all {
		values[i] = get(&all[i])
	}
	r.names, r.columns, r.length = append(r.names, name), append(r.columns, values), len(all)
}

// numbersOf adds a column of numbers to r. The given function returns the number for one element of the
// slice all.
func numbersOf[T any](r *rows, name string, all []T, get func(*T) int64) {
	values := make([]int64, len(all))
	for i := range all {
		values[i] = get(&all[i])
	}
	r.names, r.columns, r.length = append(r.names, name), append(r.columns, values), len(all)
}

// insertRows adds rows to a table. PostgreSQL gets all rows in one request, with the same statement for
// any number of rows. SQLite gets one request per row, because it has no slow network. The parameter
// end is the text of the statement after the rows.
func (t *transaction) insertRows(table string, r *rows, end string) error {
	if r.length == 0 {
		return nil
	}
	begin := "INSERT INTO " + table + " (" + strings.Join(r.names, ", ") + ") "
	if t.d.numbered {
		arrays := make([]string, len(r.columns))
		for i, c := range r.columns {
			arrays[i] = "?::bigint[]"
			if _, ok := c.([]string); ok {
				arrays[i] = "?::text[]"
			}
		}
		_, err := t.exec(begin+"SELECT * FROM unnest("+strings.Join(arrays, ", ")+")"+end, r.columns...)
		return err
	}
	add, err := t.tx.PrepareContext(t.ctx, begin+"VALUES ("+strings.Repeat("?, ", len(r.names)-1)+"?)"+end)
	if err != nil {
		return err
	}
	defer func() { _ = add.Close() }()
	values := make([]any, len(r.columns))
	for i := range r.length {
		for at, c := range r.columns {
			switch all := c.(type) {
			case []string:
				values[at] = all[i]
			case []int64:
				values[at] = all[i]
			default:
				return fmt.Errorf("the column %s holds %T", r.names[at], c)
			}
		}
		if _, err := add.ExecContext(t.ctx, values...); err != nil {
			return err
		}
	}
	return nil
}
