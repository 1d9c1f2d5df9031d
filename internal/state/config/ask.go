package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// SettingsFile returns the path of the file with settings that are not rules.
func (f Folders) SettingsFile() string { return filepath.Join(f.Config, "config.toml") }

// LoadAsk reads the settings for asking a person from config.toml and from the environment. The
// environment takes precedence, and the file need not exist. The whole file is refused if another
// user could have written it, or if any part is wrong. The error names the file and line, or the
// variable. channels are the words for all ways to ask, in the default order.
func LoadAsk(path string, getenv func(string) string, channels []string) (Ask, error) {
	a := defaultAsk(channels)
	src, err := ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Ask{}, fmt.Errorf("settings %s: %w", path, err)
	}
	if err == nil {
		if err := a.applyFile(path, src); err != nil {
			return Ask{}, err
		}
	}
	for _, s := range listSettings() {
		if text := getenv(s.env); text != "" {
			if err := s.set(&a, text, s.env); err != nil {
				return Ask{}, fmt.Errorf("%s: %w", s.env, err)
			}
		}
	}
	return a, nil
}

type settingsFile struct {
	List     *string                  `toml:"list"`
	Hub      hubTable                 `toml:"hub"`
	Serve    serveTable               `toml:"serve"`
	TLS      tlsTable                 `toml:"tls"`
	Upstream map[string]upstreamTable `toml:"upstream"`
	Ask      struct {
		Order     *[]string `toml:"order"`
		Timeout   *string   `toml:"timeout"`
		Nobody    *string   `toml:"nobody"`
		PerMinute *int      `toml:"per_minute"`
		AtOnce    *int      `toml:"at_once"`
		Notify    *bool     `toml:"notify"`
	} `toml:"ask"`
}

func (a *Ask) applyFile(path string, src []byte) error {
	f, err := readSettings(path, src)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	if p := f.Ask.Order; p != nil {
		texts["order"] = strings.Join(*p, ",")
	}
	if p := f.Ask.Timeout; p != nil {
		texts["timeout"] = *p
	}
	if p := f.Ask.Nobody; p != nil {
		texts["nobody"] = *p
	}
	if p := f.Ask.PerMinute; p != nil {
		texts["per_minute"] = strconv.Itoa(*p)
	}
	if p := f.Ask.AtOnce; p != nil {
		texts["at_once"] = strconv.Itoa(*p)
	}
	if p := f.Ask.Notify; p != nil {
		texts["notify"] = strconv.FormatBool(*p)
	}
	lines := keyLines(src)
	for _, s := range listSettings() {
		text, ok := texts[s.key]
		if !ok {
			continue
		}
		from := fmt.Sprintf("%s:%d", path, lines["ask."+s.key])
		if err := s.set(a, text, from); err != nil {
			return fmt.Errorf("%s: ask.%s: %w", from, s.key, err)
		}
	}
	return nil
}

func readSettings(path string, src []byte) (f settingsFile, err error) {
	d := toml.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return f, tomlError(path, err)
	}
	return f, nil
}

// tomlError returns an error that names the place of a mistake: file:line:column.
func tomlError(path string, err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		line, column := strict.Errors[0].Position()
		key := []string(strict.Errors[0].Key())
		known := []string{"ask", "hub", "list", "serve", "tls", "upstream"}
		switch {
		case len(key) > 1 && key[0] == "ask":
			known = nil
			for _, s := range listSettings() {
				known = append(known, s.key)
			}
		case len(key) > 1 && key[0] == "hub":
			known = tomlKeys[hubTable]()
		case len(key) > 1 && key[0] == "serve":
			known = tomlKeys[serveTable]()
		case len(key) == 2 && key[0] == "tls":
			known = tomlKeys[tlsTable]()
		case len(key) > 2 && key[0] == "tls":
			known = tomlKeys[tlsHostTable]()
		case len(key) > 2 && key[0] == "upstream":
			known = tomlKeys[upstreamTable]()
		}
		return fmt.Errorf("%s:%d:%d: %q is not a setting; %s", path, line, column, strings.Join(key, "."), suggestWord(key[len(key)-1], known))
	}
	if broken, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := broken.Position()
		return fmt.Errorf("%s:%d:%d: %s", path, line, column, strings.TrimPrefix(broken.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", path, err)
}

// keyLines returns the line of each key in a TOML text, by the full key, such as "ask.order".
func keyLines(src []byte) map[string]int {
	lines, table := map[string]int{}, ""
	var p unstable.Parser
	p.Reset(src)
	for p.NextExpression() {
		e := p.Expression()
		var names []string
		line := 0
		for k := e.Key(); k.Next(); {
			names = append(names, string(k.Node().Data))
			line = p.Shape(k.Node().Raw).Start.Line
		}
		if name := strings.Join(names, "."); e.Kind == unstable.KeyValue {
			lines[strings.TrimPrefix(table+"."+name, ".")] = line
		} else {
			table = name
		}
	}
	return lines
}
