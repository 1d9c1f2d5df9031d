package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/text/spelling"
)

// Value is one setting with its origin: "default", the file with its line, the name of a variable,
// or the name of an option.
type Value[T any] struct {
	Is   T
	From string
}

// Never is the word that stands in place of the channels if no person is asked.
const Never = "never"

// Ask holds the settings for asking a person. docs/approvals.md describes each setting.
type Ask struct {
	Order     Value[[]string]      // the channels, first to last; empty: no person is ever asked
	Timeout   Value[time.Duration] // how long a call waits; more than 0
	Nobody    Value[string]        // what to do if no channel is available: "wait" in the queue, or "deny"
	PerMinute Value[int]           // largest number of questions per minute; further questions are not asked; at least 1
	AtOnce    Value[int]           // largest number of waiting questions of one server; at least 1
	Notify    Value[bool]          // show a desktop notification when no channel is available

	channels []string // all channels
}

func defaultAsk(channels []string) Ask {
	const from = "default"
	return Ask{
		channels:  channels,
		Order:     Value[[]string]{slices.Clone(channels), from},
		Timeout:   Value[time.Duration]{45 * time.Second, from},
		Nobody:    Value[string]{"wait", from},
		PerMinute: Value[int]{30, from},
		AtOnce:    Value[int]{64, from},
		Notify:    Value[bool]{true, from},
	}
}

// setting describes one setting: its key in config.toml, its environment variable, and the function
// that parses its text.
type setting struct {
	key, env string
	set      func(a *Ask, text, from string) error
}

func listSettings() []setting {
	return []setting{
		{"order", "CLAWAI_ASK", setOrder},
		{"timeout", "CLAWAI_ASK_TIMEOUT", setTimeout},
		{"nobody", "CLAWAI_ASK_NOBODY", setNobody},
		{"per_minute", "CLAWAI_ASK_PER_MINUTE", setCount(func(a *Ask) *Value[int] { return &a.PerMinute })},
		{"at_once", "CLAWAI_ASK_AT_ONCE", setCount(func(a *Ask) *Value[int] { return &a.AtOnce })},
		{"notify", "CLAWAI_ASK_NOTIFY", setNotify},
	}
}

// Set parses a setting from the command line. key is its key in config.toml, and the parameter from
// is the name of the option. The error does not contain this name.
func (a *Ask) Set(key, text, from string) error {
	for _, s := range listSettings() {
		if s.key == key {
			return s.set(a, text, from)
		}
	}
	return fmt.Errorf("%q is not a setting", key)
}

func setOrder(a *Ask, text, from string) error {
	order := strings.Split(text, ",")
	for i, name := range order {
		order[i] = strings.TrimSpace(name)
	}
	order = replacePopup(order)
	if len(order) == 1 && order[0] == Never {
		a.Order = Value[[]string]{nil, from}
		return nil
	}
	for i, name := range order {
		switch {
		case name == Never:
			return fmt.Errorf("%q stands alone: nobody is asked then", Never)
		case !slices.Contains(a.channels, name):
			return fmt.Errorf("%q is not a way of asking; %s", name, suggestWord(name, append(slices.Clone(a.channels), Never)))
		case slices.Contains(order[:i], name):
			return fmt.Errorf("%q is there twice", name)
		}
	}
	a.Order = Value[[]string]{order, from}
	return nil
}

// replacePopup replaces the channel "popup" of earlier versions by "console", which uses the same
// queue, so that an old setting still loads.
func replacePopup(order []string) []string {
	i := slices.Index(order, "popup")
	switch {
	case i < 0:
		return order
	case slices.Contains(order, "console"):
		return slices.Delete(order, i, i+1)
	}
	order[i] = "console"
	return order
}

func setTimeout(a *Ask, text, from string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is not a time to wait; write one like 45s, more than 0", text)
	}
	a.Timeout = Value[time.Duration]{d, from}
	return nil
}

func setNobody(a *Ask, text, from string) error {
	if text != "wait" && text != "deny" {
		return fmt.Errorf("%q is neither wait nor deny", text)
	}
	a.Nobody = Value[string]{text, from}
	return nil
}

func setCount(field func(*Ask) *Value[int]) func(*Ask, string, string) error {
	return func(a *Ask, text, from string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of questions; write 1 or more", text)
		}
		*field(a) = Value[int]{n, from}
		return nil
	}
}

func setNotify(a *Ask, text, from string) error {
	if text != "true" && text != "false" {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	a.Notify = Value[bool]{text == "true", from}
	return nil
}

// suggestWord suggests the word that was probably meant. If no word is similar, it lists all words.
func suggestWord(word string, words []string) string {
	if near := spelling.NearestWord(word, words); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "it is one of " + strings.Join(words, ", ")
}
