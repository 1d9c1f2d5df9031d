package check

import "slices"

// AddFormat adds a format that only tests have, until it is taken back.
func AddFormat(f Format) (takeBack func()) {
	before := slices.Clone(formats)
	addFormat(f)
	return func() { formats = before }
}
