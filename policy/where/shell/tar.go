package shell

import "strings"

// readTar reads the words of tar. The first may be a bundle of letters without "-". A
// name with a colon is a file on another machine, which tar fetches with rsh.
func readTar(words []word) effect {
	e := effect{}
	r := programRow("tar")
	from := 1
	if len(words) > 1 && words[1].known && !strings.HasPrefix(words[1].text, "-") {
		from = 2 // the next words are the values of the options in the first word
		for _, letter := range words[1].text {
			if _, ok := r.options.byName()["-"+string(letter)]; !ok {
				e.stays = append(e.stays, 1)
			}
		}
	}
	r.readArguments(words, from, &e)
	for i, w := range words {
		if i > 0 && (strings.Contains(w.text, ":") || !w.known && (!w.many || w.split)) {
			e.stays = append(e.stays, i)
		}
	}
	return e
}
