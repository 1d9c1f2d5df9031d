package redact

import "bytes"

// innerAt finds a secret that a sign inside it or at its end reveals; s[i] is the sign.
func innerAt(s []byte, i, from int) (at span) {
	if i == from || classes[s[i-1]] == 0 {
		return at
	}
	switch s[i] {
	case ':': // 123456789:AA… of Telegram bots, …:APA91b… of Google's messages
		if at = measureAround(s, i, from, decimal, 8, 10, wordish, 35, 35, "telegram"); at.to == 0 && bytes.HasPrefix(s[i+1:], []byte("APA91b")) {
			at = measureAround(s, i, from, wordish, 8, 0, wordish, 100, 0, "google")
		}
	case '|': // APPLICATION|SECRET of Facebook
		at = measureAround(s, i, from, decimal, 15, 16, wordish, 27, 40, "facebook")
	case '~': // xxx8Q~… of Azure applications
		if i >= 2 && s[i-1] == 'Q' && classes[s[i-2]] == decimal {
			const azure = wordish | dot | tilde
			if at = measureAround(s, i, from, azure, 5, 5, azure, 31, 36, "azure"); at.to > 0 {
				return at
			}
		}
	case '.': // three parts of a Discord bot's token: 24 to 26, 6, 27 or more characters
		if i+7 < len(s) && s[i+7] == '.' && ofClass(s[i+1:i+7], wordish) {
			at = measureAround(s, i, from, alnum, 24, 26, wordish|dot, 34, 0, "discord")
			if at.to > 0 && (s[at.from] < 'M' || s[at.from] > 'O') {
				return span{}
			}
		}
	case '-': // …-us12 of Mailchimp
		if bytes.HasPrefix(s[i:], []byte("-us")) {
			at = measureAround(s, i, from, hexes, 32, 32, lowerRest|decimal, 3, 5, "mailchimp")
		}
	case '_': // …_mmk of MaxMind
		if bytes.HasPrefix(s[i:], []byte("_mmk")) {
			at = measureAround(s, i, from, alnum|under, 36, 36, alnum, 3, 3, "maxmind")
		}
	}
	return at
}

// measureAround measures the characters of a class before and after s[i]. Both counts must reach
// their minimum and may not exceed their maximum, if there is one.
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
