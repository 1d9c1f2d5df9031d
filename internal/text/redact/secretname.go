package redact

import (
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/textclass"
)

// secrecy tells how the name of a member decides whether the value is a secret.
type secrecy uint8

const (
	harmless secrecy = iota
	secret           // a string or a number is a secret
	counting         // a plural, such as max_tokens: a string is a secret, a number is only a count
	written          // content of a file: a secret if the path of the file is a secret place
)

// nameSecrecy does the work of memberSecrecy, but returns the constant harmless in place of the
// constant written.
func nameSecrecy(name []byte) secrecy {
	if s := memberSecrecy(name); s != written {
		return s
	}
	return harmless
}

// memberSecrecy returns the secrecy for the name of a member, header, flag or variable. Punctuation
// and capitals separate the words of a name, so apiKey, API_KEY and x-api-key are the same name.
// "secretary" is one word and no secret.
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

// nextWord returns the next word of a name, in lower case and without digits at its end, and the
// rest of the name.
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
		fold = fold[:len(fold)-1] // drop a digit: letters are greater than '9'
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

// nameTables are the lists of internal/text/textclass as tables.
type nameTables struct {
	words   map[string]secrecy
	endings []string
	before  map[string]bool // words after which "key" is a secret
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

// mayTell reports whether a word can be in the tables. This quick check saves most lookups, so many
// processes never build the tables.
func mayTell(word []byte) bool {
	n := len(word)
	return n > 2 && wordEnds()[pairHash(word[n-2], word[n-1])&255]&(1<<(word[n-3]&63)) != 0
}

// wordEnds holds the endings of the words in the tables. The index is the hash of the last two
// bytes; the value has a bit for each byte before them.
var wordEnds = sync.OnceValue(func() *[256]uint64 {
	ends := new([256]uint64)
	for word := range strings.FieldsSeq(textclass.ContentWords + " " + textclass.SecretWords + " " + textclass.KeyWords + " " + textclass.SecretEndings + " tokens key keys") {
		n := len(word) // at least 3
		ends[pairHash(word[n-2], word[n-1])&255] |= 1 << (word[n-3] & 63)
	}
	return ends
})

// isQuerySecret reports whether a name is that of a secret in the query of a URL. In other places a
// name like this often has a harmless value.
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
