package redact

import (
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/textclass"
)

// secrecy is what a member's name says of its value.
type secrecy uint8

const (
	harmless secrecy = iota
	secret           // strings and numbers are secrets
	counting         // a plural such as max_tokens: a number is a count, a string a secret
	written          // what a file is to hold, or held: a secret in a place of secrets
)

// nameSecrecy judges the name of a member, header, flag or variable, wherever it leads.
func nameSecrecy(name []byte) secrecy {
	if s := memberSecrecy(name); s != written {
		return s
	}
	return harmless
}

// memberSecrecy judges the name of a member, header, flag or variable. Words are
// told apart by punctuation and by capitals, so that apiKey, API_KEY and
// x-api-key are one name and "secretary" is none.
func memberSecrecy(name []byte) secrecy {
	var fold [64]byte
	if len(name) > len(fold) {
		name = name[len(name)-len(fold):]
	}
	found, qualified, only := harmless, false, true
	for len(name) > 0 {
		var word []byte
		word, name = nextWord(fold[:0], name)
		said, before := harmless, false
		if mayTell(word) {
			t := tables()
			said, before = t.wordSecrecy(word, qualified), t.before[string(word)]
		}
		if said != harmless && said != written || found == harmless && len(name) == 0 {
			found = said
		}
		if only && len(name) == 0 && string(word) == "auth" {
			found = secret
		}
		qualified, only = before, false
	}
	return found
}

// nextWord cuts one word off name: lower case, without its last digits.
func nextWord(fold, name []byte) (word, rest []byte) {
	i := 0
	for i < len(name) && !isAlnum[name[i]] {
		i++
	}
	for was := byte(0); i < len(name) && isAlnum[name[i]]; i++ {
		c := name[i]
		if upper := c >= 'A' && c <= 'Z'; upper {
			if was >= 'a' && was <= 'z' {
				break
			}
			c += 'a' - 'A'
		}
		was = name[i]
		fold = append(fold, c)
	}
	for len(fold) > 0 && fold[len(fold)-1] <= '9' {
		fold = fold[:len(fold)-1] // digits sort before letters
	}
	return fold, name[i:]
}

func (t *nameTables) wordSecrecy(word []byte, qualified bool) secrecy {
	if s := t.words[string(word)]; s != harmless {
		return s
	}
	if qualified && (string(word) == "key" || string(word) == "keys") {
		return secret
	}
	for _, end := range t.endings {
		if len(word) > len(end) && string(word[len(word)-len(end):]) == end {
			return secret
		}
	}
	return harmless
}

// nameTables are those of internal/text/textclass, to look things up in.
type nameTables struct {
	words   map[string]secrecy
	endings []string
	before  map[string]bool // a following "key" is a secret
}

var tables = sync.OnceValue(func() *nameTables {
	t := &nameTables{}
	t.words = map[string]secrecy{"tokens": counting}
	for word := range strings.FieldsSeq(textclass.ContentWords) {
		t.words[word] = written
	}
	for word := range strings.FieldsSeq(textclass.SecretWords) {
		t.words[word] = secret
	}
	t.before = map[string]bool{}
	for word := range strings.FieldsSeq(textclass.KeyWords) {
		t.before[word] = true
	}
	t.endings = strings.Fields(textclass.SecretEndings)
	return t
})

// mayTell reports whether the tables are worth asking: of most words they are not, and many a
// process never makes them.
func mayTell(word []byte) bool {
	n := len(word)
	return n > 2 && wordEnds()[pairHash(word[n-2], word[n-1])&255]&(1<<(word[n-3]&63)) != 0
}

// wordEnds holds how the words of the tables end: by the last two bytes, a bit for the one
// before them.
var wordEnds = sync.OnceValue(func() *[256]uint64 {
	ends := new([256]uint64)
	for word := range strings.FieldsSeq(textclass.ContentWords + " " + textclass.SecretWords + " " + textclass.KeyWords + " " + textclass.SecretEndings + " tokens key keys") {
		n := len(word) // above two
		ends[pairHash(word[n-2], word[n-1])&255] |= 1 << (word[n-3] & 63)
	}
	return ends
})

// isQuerySecret names what is a secret in a URL's query, and common elsewhere.
func isQuerySecret(name []byte) bool {
	switch string(name) {
	case "key", "sig", "signature", "code", "auth", "sas", "hmac", "X-Amz-Signature", "X-Goog-Signature":
		return true
	}
	return false
}

var isAlnum = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return t
}()
