// Package packs reads the packs that a policy names. A pack is a file with kinds of findings that
// are not built in. Like a policy, it is refused if another user could have written the file.
package packs

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/policy"
)

// Read reads a pack; it is for policy.Options.Pack.
func Read(x policy.PackFile) (policy.Pack, error) {
	path, src, err := base.PackText(x)
	if err != nil {
		return nil, err
	}
	return Parse(path, src)
}

// ParsePack is like Parse. It is for bundles, whose packs the caller has read already.
func ParsePack(path string, src []byte) (policy.Pack, error) {
	p, err := Parse(path, src)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Parse parses a pack. An error contains the place of the fault and advice for the owner.
func Parse(path string, src []byte) (*inspect.Pack, error) {
	p, err := inspect.ParsePack(src)
	if err == nil {
		return p, nil
	}
	line := 0
	if at, ok := errors.AsType[*inspect.PackError](err); ok {
		line, err = at.Line, at.Err
	}
	return nil, fmt.Errorf("the pack %s:%d: %w; mend it, and try it with: clawai scan --kinds --pack FILE", policy.FileName(path), cmp.Or(line, 1), err)
}
