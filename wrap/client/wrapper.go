package client

import (
	"slices"
	"strings"
)

// valueFlags are the flags of clawai proxy that take a value, and bareFlags
// those that take none. An invocation with another flag is not ours to read.
var (
	valueFlags = []string{"server", "policy", "ask-timeout", "max-frame", "deny-as", "state"}
	bareFlags  = []string{"observe"}
)

// invocation is clawai proxy as an entry's words say it.
type invocation struct {
	server string
	flags  []string // besides --server, as words
	inner  int      // index of the first word after --
}

// readInvocation recognises a wrapper by its shape and by the name of the
// program, wherever that stands: clawai proxy, flags it has, --.
func readInvocation(words []*node) (v invocation, ok bool) {
	if len(words) < 3 || !isClawai(words[0].text) || words[1].text != "proxy" {
		return v, false
	}
	for i := 2; i < len(words); i++ {
		word := words[i].text
		if word == "--" {
			v.inner = i + 1
			return v, true
		}
		name, value, inline := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
		takesValue := slices.Contains(valueFlags, name)
		if word[:min(1, len(word))] != "-" || !takesValue && !slices.Contains(bareFlags, name) {
			return v, false
		}
		flag := []string{word}
		if takesValue && !inline {
			if i++; i == len(words) {
				return v, false
			}
			value = words[i].text
			flag = append(flag, value)
		}
		if name == "server" {
			v.server = value
		} else {
			v.flags = append(v.flags, flag...)
		}
	}
	return v, false
}

// isClawai looks at the last part of a path of any system.
func isClawai(command string) bool {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return base == "clawai" || strings.EqualFold(base, "clawai.exe")
}

// proxyWords are what Wrap writes after the command. A flag that stands in an
// older wrapper stays unless w says it; --observe stands only if w says so.
func proxyWords(w Wrapper, older []string) []string {
	words := append([]string{"proxy", "--server", w.Server}, w.Flags...)
	for i := 0; i < len(older); i++ {
		flag := older[i : i+1]
		name, _, inline := strings.Cut(strings.TrimLeft(older[i], "-"), "=")
		if slices.Contains(valueFlags, name) && !inline {
			flag = older[i : i+2]
			i++
		} else if slices.Contains(bareFlags, name) {
			continue
		}
		if !mentions(w.Flags, name) {
			words = append(words, flag...)
		}
	}
	return append(words, "--")
}

func mentions(flags []string, name string) bool {
	return slices.ContainsFunc(flags, func(flag string) bool {
		said, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return strings.HasPrefix(flag, "-") && said == name
	})
}

func texts(words []*node) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
	}
	return all
}
