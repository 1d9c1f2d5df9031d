// Package dialog shows one question on a terminal and interprets keys and typed words. Package ask
// uses it for the form at the terminal, and package console for the questions of clawai approve. It
// also works on terminals that only print line after line. It only returns the answer; the caller
// acts on it.
//
// In every mode the first choice denies and is selected at the start. Keys that come before the
// person could read the question are ignored. No choice that allows has an effect before the end of
// the question was visible.
package dialog

import "github.com/clawai/clawai/internal/ask/quietstart"

func init() { quietstart.RestoreEnv() }
