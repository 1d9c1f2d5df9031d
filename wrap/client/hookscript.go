package client

import "strings"

// readScript reads a hook that is a program file. Such a file can be only ours or only somebody
// else's: wrap does not edit a file that is not ours.
func readScript(r HookRow, src []byte, event string, start HookStart) (Hooked, error) {
	if !isOurScript(src) {
		return Hooked{Others: []Hook{{Event: event, Line: 1, Command: "a script"}}}, nil
	}
	start.Observe = startOf(scriptNode(src)).Observe
	want, err := r.renderElement(event, start)
	if err != nil {
		return Hooked{}, err
	}
	h := Hooked{Ours: []Hook{{Event: event, Line: 1}}, Observe: start.Observe}
	if string(src) != want {
		h.Differs = []string{"the script is not what this clawai writes: it is an older one's, or was changed"}
	}
	return h, nil
}

// isOurScript reports whether the last line is a command that starts clawai-hook, or a comment with
// such a command.
func isOurScript(src []byte) bool { return isHookLine(scriptNode(src).text) }

// scriptNode returns the last line as a handler. In JavaScript this line is a comment, whose mark is
// removed.
func scriptNode(src []byte) *node {
	lines := strings.Split(strings.TrimSpace(string(src)), "\n")
	return &node{kind: stringKind, text: strings.TrimPrefix(lines[len(lines)-1], "// ")}
}

func putScript(r HookRow, src []byte, event string, start HookStart) ([]byte, error) {
	if src != nil && !isOurScript(src) {
		return nil, newEditError(src, 0, "call clawai-hook "+r.HookWord()+" from it, with its input and exit code handed on, or move it away",
			"a hook for %s stands here, and %s runs one only", event, r.Name)
	}
	text, err := r.renderElement(event, start)
	return []byte(text), err
}

// takeScript returns nil for a script that wrap wrote: the file can be removed. It refuses such a
// script if it was changed, and returns any other script unchanged.
func takeScript(r HookRow, src []byte, event string) ([]byte, error) {
	if !isOurScript(src) {
		return src, nil
	}
	if made, err := r.renderElement(event, startOf(scriptNode(src))); err == nil && made == string(src) {
		return nil, nil
	}
	return nil, newEditError(src, 0, "remove the line that starts clawai-hook by hand", "the script was changed since wrap wrote it")
}
