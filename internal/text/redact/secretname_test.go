package redact

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Whatever is looked at first of a name, no word of a secret is passed over.
func TestEveryWordOfASecretIsKnown(t *testing.T) {
	for word := range strings.FieldsSeq(textclass.SecretWords + " tokens") {
		for _, name := range []string{word, strings.ToUpper(word), "my_" + word, word + "-2"} {
			if nameSecrecy([]byte(name)) == harmless {
				t.Errorf("%s is taken for harmless", name)
			}
		}
	}
	for end := range strings.FieldsSeq(textclass.SecretEndings) {
		if nameSecrecy([]byte("xy"+end)) != secret {
			t.Errorf("xy%s is taken for harmless", end)
		}
	}
	for word := range strings.FieldsSeq(textclass.KeyWords) {
		if nameSecrecy([]byte(word+"_key")) != secret || nameSecrecy([]byte(word+"Keys")) != secret {
			t.Errorf("a key of %s is taken for harmless", word)
		}
	}
	for _, name := range []string{"path", "key", "a", "", "secretary", "old", "monkey"} {
		if nameSecrecy([]byte(name)) != harmless {
			t.Errorf("%s is taken for a secret", name)
		}
	}
}
