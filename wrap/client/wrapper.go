package client

import (
	"slices"
	"strings"
)

// invocation is clawai proxy as an entry's words say it.
type invocation struct {
	server string
	flags  []string // besides --server, as words
	inner  int      // index of the first word after --
}

// readInvocation recognises a wrapper by its shape and by the name of the
// program, wherever that stands: clawai, proxy, flags, --. Every flag is taken,
// for the wrapper may be that of another version; only --server must be known,
// because a server may be called "--".
func readInvocation(words []*node) (v invocation, ok bool) {
	if len(words) < 3 || !isClawai(words[0].text) || words[1].text != "proxy" {
		return invocation{}, false
	}
	for i := 2; i < len(words); i++ {
		word := words[i].text
		if word == "--" {
			v.inner = i + 1
			return v, true
		}
		name, value, inline := flagName(word)
		if name != "server" {
			v.flags = append(v.flags, word)
			continue
		}
		if !inline {
			if i++; i == len(words) {
				break
			}
			value = words[i].text
		}
		v.server = value
	}
	return invocation{}, false
}

// flagName takes --name and --name=value apart, with one dash as well; the name
// is "" for a word that is no flag.
func flagName(word string) (name, value string, inline bool) {
	flag, dashed := strings.CutPrefix(word, "-")
	if !dashed {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(flag, "-"), "=")
}

// isClawai looks at the last part of a path of any system.
func isClawai(command string) bool {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return base == "clawai" || strings.EqualFold(base, "clawai.exe")
}

// proxyWords are what Wrap writes after the command. A flag that stands in an
// older wrapper stays, with its value, unless w says it too; --observe stands
// only if w says so.
func proxyWords(w Wrapper, older []string) []string {
	words := append([]string{"proxy", "--server", w.Server}, w.Flags...)
	said := []string{"observe"}
	for _, flag := range w.Flags {
		name, _, _ := flagName(flag)
		said = append(said, name)
	}
	stays := true
	for _, word := range older {
		if name, _, _ := flagName(word); name != "" {
			stays = !slices.Contains(said, name)
		}
		if stays {
			words = append(words, word)
		}
	}
	return append(words, "--")
}

func texts(words []*node) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
	}
	return all
}
