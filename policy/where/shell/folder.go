package shell

import "strings"

// changeFolder reads the words of cd, pushd and popd. "-", "+1" and "-1" are earlier
// folders of the shell, perhaps from an earlier text (OLDPWD), so a wildcard does not
// match them.
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
