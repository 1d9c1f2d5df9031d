package page

import "net/url"

// Address returns a path with a filter of pairs, each a name and a value; pairs without a value are
// left out.
func Address(path string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}
