package client

import "strings"

// readScript reads a hook that is a program file. The file is completely ours or completely
// somebody else's, because wrap never edits a program file of others.
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

// isOurScript reports whether the last line starts clawai-hook. The line is a command, or a comment
// with a command.
func isOurScript(src []byte) bool { return isHookLine(scriptNode(src).text) }

// scriptNode returns the last line as a handler. In JavaScript the line is a comment; its mark is
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

// takeScript returns nil for a script that wrap wrote, so the caller can remove the file. It
// returns an error if such a script was changed. It returns any other script unchanged.
func takeScript(r HookRow, src []byte, event string) ([]byte, error) {
	if !isOurScript(src) {
		return src, nil
	}
	if made, err := r.renderElement(event, startOf(scriptNode(src))); err == nil && made == string(src) {
		return nil, nil
	}
	return nil, newEditError(src, 0, "remove the line that starts clawai-hook by hand", "the script was changed since wrap wrote it")
}
