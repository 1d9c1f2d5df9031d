package page

import "net/url"

// Address returns a path with a query. pairs has a name and a value for each parameter. Address leaves
// out parameters with an empty value.
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
