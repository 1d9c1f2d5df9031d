package approve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/clawai/clawai/internal/term"
)

// maxValues is how many argument values a person can be asked about at once.
const maxValues = 1000

var errTooMany = fmt.Errorf("the call has more than %d argument values, too many to show", maxValues)

// arguments lists every value in the JSON object args, one harmless line each,
// in the order of the wire: strings decoded, for that is what a server acts on,
// everything else as its token.
func arguments(args []byte) ([]string, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	w := walker{d: d}
	if err := w.value(""); err != nil {
		if errors.Is(err, errTooMany) {
			return nil, err
		}
		return nil, fmt.Errorf("arguments cannot be read: %w", err)
	}
	return w.lines, nil
}

type walker struct {
	d     *json.Decoder
	lines []string
}

func (w *walker) value(name string) error {
	t, err := w.d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		return w.inside(name, t)
	case string:
		return w.add(name, term.Value(t), cleaned(t))
	case json.Number:
		return w.add(name, strings.Trim(term.Value(t.String()), `"`), "")
	case nil:
		return w.add(name, "null", "")
	default:
		return w.add(name, fmt.Sprint(t), "") // true or false
	}
}

// inside walks an object or list to its end.
func (w *walker) inside(name string, open json.Delim) error {
	if !w.d.More() && name != "" {
		if err := w.add(name, map[json.Delim]string{'{': "{}", '[': "[]"}[open], ""); err != nil {
			return err
		}
	}
	for i := 0; w.d.More(); i++ {
		member := fmt.Sprintf("%s[%d]", name, i)
		if open == '{' {
			key, err := w.d.Token()
			if err != nil {
				return err
			}
			member = join(name, key.(string))
		}
		if err := w.value(member); err != nil {
			return err
		}
	}
	_, err := w.d.Token()
	return err
}

func (w *walker) add(name, value, clean string) error {
	if len(w.lines) >= maxValues {
		return errTooMany
	}
	line := name + " = " + value
	if clean != "" {
		line += " → " + term.Value(clean)
	}
	w.lines = append(w.lines, line)
	return nil
}

func join(name, key string) string {
	if !bare(key) {
		key = term.Value(key)
	}
	if name == "" {
		return key
	}
	return name + "." + key
}

// bare says that a member name can be shown without quotes.
func bare(key string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return key != "" && len(key) <= 64 && strings.Trim(key, letters) == ""
}

// cleaned is what a path that climbs or stutters comes to; "" when it is no
// such path.
func cleaned(s string) string {
	if !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "~") {
		return ""
	}
	if c := path.Clean(s); c != s && c != strings.TrimSuffix(s, "/") {
		return c
	}
	return ""
}
