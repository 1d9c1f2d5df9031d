// Package dialog shows one question on a terminal and interprets keys and typed words. It draws
// the form at the terminal and the questions of clawai approve, and has a mode for terminals that
// print line after line. It answers nothing itself; its caller does.
//
// In every mode the first choice denies and is preset. Keys that come before a question could be
// read are ignored. Nothing is allowed before the end of the question was visible.
package dialog

import "github.com/clawai/clawai/internal/ask/quietstart"

func init() { quietstart.RestoreEnv() }
