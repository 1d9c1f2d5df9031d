// Package dialog shows one question on a terminal and says what a key or a typed
// word means to it: the renderer of the form at the terminal
// and of clawai approve, and one mode for terminals that print line after line.
// It answers nothing itself; the frame around it does.
//
// Whatever the frame, the first choice denies and is preset, keys that come
// before a question could be read are no answer, and nothing is let through
// before the end of what is asked was in sight.
package dialog

import "github.com/clawai/clawai/internal/ask/lipglossinit"

func init() { lipglossinit.RestoreEnv() }
