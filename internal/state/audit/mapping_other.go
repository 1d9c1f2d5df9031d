//go:build !linux

package audit

import "os"

// mapping is used only on Linux. Other systems write each record with a system call.
type mapping struct{ lost bool }

func newMapping(*os.File, bool) (*mapping, error) { return nil, nil }

func (*mapping) appendBytes([]byte) (int, error) { panic("no mapping here") }
func (*mapping) reservedSize() int64             { return 0 }
func (*mapping) unmap()                          {}
func (*mapping) truncateFile() error             { return nil }
