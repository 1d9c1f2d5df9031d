package redact

import "bytes"

// innerAt finds a secret that is recognized by a sign inside it or at its end. The sign is s[i].
func innerAt(s []byte, i, from int) (at span) {
	if i == from || classes[s[i-1]] == 0 {
		return at
	}
	switch s[i] {
	case ':': // token of a Telegram bot, 123456789:AA…, or of Google's messages, …:APA91b…
		if at = measureAround(s, i, from, decimal, 8, 10, wordish, 35, 35, "telegram"); at.to == 0 && bytes.HasPrefix(s[i+1:], []byte("APA91b")) {
			at = measureAround(s, i, from, wordish, 8, 0, wordish, 100, 0, "google")
		}
	case '|': // token of Facebook: APPLICATION|SECRET
		at = measureAround(s, i, from, decimal, 15, 16, wordish, 27, 40, "facebook")
	case '~': // secret of an Azure application: xxx8Q~…
		if i >= 2 && s[i-1] == 'Q' && classes[s[i-2]] == decimal {
			const azure = wordish | dot | tilde
			if at = measureAround(s, i, from, azure, 5, 5, azure, 31, 36, "azure"); at.to > 0 {
				return at
			}
		}
	case '.': // token of a Discord bot: three parts of 24 to 26, 6, and at least 27 characters
		if i+7 < len(s) && s[i+7] == '.' && ofClass(s[i+1:i+7], wordish) {
			at = measureAround(s, i, from, alnum, 24, 26, wordish|dot, 34, 0, "discord")
			if at.to > 0 && (s[at.from] < 'M' || s[at.from] > 'O') {
				return span{}
			}
		}
	case '-': // key of Mailchimp: …-us12
		if bytes.HasPrefix(s[i:], []byte("-us")) {
			at = measureAround(s, i, from, hexes, 32, 32, lowerRest|decimal, 3, 5, "mailchimp")
		}
	case '_': // key of MaxMind: …_mmk
		if bytes.HasPrefix(s[i:], []byte("_mmk")) {
			at = measureAround(s, i, from, alnum|under, 36, 36, alnum, 3, 3, "maxmind")
		}
	}
	return at
}

// measureAround checks the number of characters of a class before s[i], and of another class after
// it. Each number has a minimum, and may have a maximum.
func measureAround(s []byte, i, from int, before class, least, most int, behind class, few, many int, kind string) span {
	if i-from < least || classes[s[i-least]]&before == 0 {
		return span{}
	}
	start, end := i, i+1
	for start > from && i-start <= max(most, 64) && classes[s[start-1]]&before != 0 && !afterEscape(s[from:start]) {
		start--
	}
	if n := i - start; n < least || most > 0 && n > most {
		return span{}
	}
	for end < len(s) && end-i <= max(many, maxLook) && classes[s[end]]&behind != 0 {
		end++
	}
	if n := end - i - 1; n < few || many > 0 && n > many {
		return span{}
	}
	return span{start, end, kind}
}
