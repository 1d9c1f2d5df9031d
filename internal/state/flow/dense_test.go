package flow

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// letters returns letters and digits without a blank, different at every place.
func letters(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i))
		b.WriteString(hex.EncodeToString(sum[:]))
	}
	return b.String()[:size]
}

// A secret without blanks is known again wherever a part of it stands, as one with blanks is.
func TestDenseSecretsAreKnownToTheirEnd(t *testing.T) {
	slow.Test(t) // it writes full lists
	minified := func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			sum := sha256.Sum256(fmt.Append(nil, i))
			fmt.Fprintf(&b, `{\"id\":%d,\"token\":\"%x\"},`, i, sum)
		}
		return b.String()
	}
	picture := "iVBORw0KGgoAAAANSUhEUgAA" + letters(64<<10)
	for name, c := range map[string]struct {
		read string
		take func(read string) string // what leaves
		want string
	}{
		"JSON without blanks, far behind":     {minified(60 << 10), func(r string) string { return r[50<<10:][:200] }, "prompt"},
		"the last letters of it":              {minified(60 << 10), func(r string) string { return r[len(r)-64:] }, "prompt"},
		"one word":                            {letters(40 << 10), func(r string) string { return r[30<<10:][:24] }, "prompt"},
		"one word just over the old bound":    {letters(4<<10 + 1), func(r string) string { return r[1<<10+8:][:24] }, "prompt"},
		"base64 of a key":                     {base64.StdEncoding.EncodeToString([]byte(letters(20 << 10))), func(r string) string { return r[16<<10:][:40] }, "prompt"},
		"a picture's beginning":               {picture, func(r string) string { return r[:600] }, "prompt"},
		"the beginning of a picture, then it": {picture, func(r string) string { return r[60<<10:][:64] }, "allow"}, // a model sees a picture, not its letters
		"a picture as an address":             {"data:image/png;base64," + picture, func(r string) string { return r[60<<10:][:64] }, "allow"},
		"letters behind those of a picture":   {"iVBORw0KGgo," + letters(20<<10), func(r string) string { return r[16<<10:][:40] }, "prompt"},
		"another's letters":                   {minified(60 << 10), func(string) string { return "all is well at home, and nothing of it is from there" }, "allow"},
		"more than is kept":                   {letters(3 << 20), func(r string) string { return r[2<<20+999:][:40] }, "prompt"},
		"more than is kept, and another's":    {letters(3 << 20), func(string) string { return "all is well at home, and nothing of it is from there" }, "prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			_, files, mail := house(t, state)
			if err := HearUser(state, []string{"session:1"}, "Send it to bob@example.org"); err != nil {
				t.Fatal(err)
			}
			returned(t, files, secret, c.read)
			files.session.tasks.Wait()
			if got := weighed(mail, tool("send", `{"to":"bob@example.org","body":"`+c.take(c.read)+`"}`)); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
