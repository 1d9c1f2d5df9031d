package shell

import "strings"

// changeFolder reads the words of cd, pushd and popd. "-", "+1" and "-1" are folders that the
// shell was in before, in an earlier text too (OLDPWD): a wildcard does not stand for them.
func changeFolder(words []word) effect {
	e := effect{}
	for i := 1; i < len(words); i++ {
		text := words[i].text
		if words[i].known && text != "" && strings.IndexByte("-+", text[0]) >= 0 && !listedIn("-- -P -L -e -@ -LP -PL -Pe", text) {
			e.stays = append(e.stays, i)
		}
	}
	return e
}
