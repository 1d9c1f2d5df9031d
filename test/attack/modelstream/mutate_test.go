//go:build attack

package modelstream_test

import (
	"fmt"
	"regexp"
	"strings"
)

func (a *attacker) oneOf(all ...string) string { return all[a.IntN(len(all))] }

// addReply puts a reply behind those of the table, in the place of the one before.
func (a *attacker) addReply(one reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.replies {
		if strings.HasPrefix(a.replies[i].Name, mutated) {
			a.replies = a.replies[:i]
			break
		}
	}
	a.replies = append(a.replies, one)
}

const mutated = "mutated: "

// mutateReply changes one of the first replies: its events, or its bytes.
func (a *attacker) mutateReply(known int) reply {
	one := a.replies[a.IntN(known)]
	other := a.replies[a.IntN(known)]
	for other.API != one.API || other.Stream != one.Stream {
		other = a.replies[a.IntN(known)]
	}
	events, more := strings.SplitAfter(one.Body, "\n\n"), strings.SplitAfter(other.Body, "\n\n")
	for range a.IntN(4) {
		i, j := a.IntN(len(events)), a.IntN(len(events))
		switch a.IntN(5) {
		case 0: // twice
			events = append(events[:j:j], append([]string{events[i]}, events[j:]...)...)
		case 1: // gone
			if len(events) > 1 {
				events = append(events[:i:i], events[i+1:]...)
			}
		case 2: // in another order
			events[i], events[j] = events[j], events[i]
		default: // one of another reply
			events = append(events[:j:j], append([]string{more[a.IntN(len(more))]}, events[j:]...)...)
		}
	}
	text := strings.Join(events, "")
	for range a.IntN(4) {
		text = a.mutateBytes(text)
	}
	return reply{API: one.API, Name: fmt.Sprintf("%s%s", mutated, one.Name), Stream: one.Stream, Type: one.Type, Body: text}
}

var (
	number = regexp.MustCompile(`"(index|output_index)":[0-9]+`)
	piece  = regexp.MustCompile(`"(partial_json|arguments|delta|name|id|call_id|type)":"(\\.|[^"\\])*"`)
)

// mutateBytes changes one place of a text.
func (a *attacker) mutateBytes(text string) string {
	if text == "" {
		return text
	}
	at := a.IntN(len(text))
	lines := strings.Split(text, "\n")
	i := a.IntN(len(lines))
	switch a.IntN(9) {
	case 0:
		line := a.oneOf(": x", "id: 1", "retry: 5", "data", "data:", "event: ping", "event: message", "\ufeff", " ", "x: y",
			strings.Replace(lines[i], "data:", ":", 1), strings.Replace(lines[i], "data:", "id:", 1), ":"+lines[i])
		return strings.Join(append(lines[:i:i], append([]string{line}, lines[i:]...)...), "\n")
	case 1:
		return text[:at] + a.oneOf("\r", "\n", "\r\n", "\n\n", " ", "\u00a0", "\x00", "\t", "\u2028", "\x0b", "\u0085", "\xff") + text[at:]
	case 2:
		return strings.Replace(text, "\n\n", a.oneOf("\r\n\r\n", "\n\r\n", "\r\r", "\n\n\n", "\r\n\n"), 1+98*a.IntN(2))
	case 3:
		return strings.Replace(text, "data: ", a.oneOf("data:", "data:  ", "data:\t", "Data: "), 1+98*a.IntN(2))
	case 4:
		return strings.Replace(text, `"name"`, a.oneOf(`"name":"Read","name"`, `"Name":"Read","name"`, `"n\u0061me":"Read","name"`, `"n\u0061me"`, `"x\u0000":1,"name"`), 1)
	case 5:
		return a.replaceOne(number, text, func(found string) string {
			name, _, _ := strings.Cut(found, ":")
			return name + ":" + a.oneOf("0", "1", "2", "0.0", "-0", "00", `"0"`, "1e0", "null", "-1")
		})
	case 6:
		return a.replaceOne(piece, text, func(found string) string {
			name, value, _ := strings.Cut(found, ":")
			return name + ":" + a.oneOf("["+value+"]", "null", "1", "true", `{"a":`+value+"}", `""`, value+","+name+":"+value)
		})
	case 7: // data in two lines
		for j := range lines {
			k := (i + j) % len(lines)
			if begin, rest, found := strings.Cut(lines[k], ","); found && strings.HasPrefix(lines[k], "data: ") {
				lines[k] = begin + ",\ndata: " + rest
				break
			}
		}
		return strings.Join(lines, "\n")
	}
	return text[:at] // cut off
}

// replaceOne replaces one of the places that an expression matches.
func (a *attacker) replaceOne(what *regexp.Regexp, text string, change func(string) string) string {
	all := what.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return text
	}
	at := all[a.IntN(len(all))]
	return text[:at[0]] + change(text[at[0]:at[1]]) + text[at[1]:]
}
