package proxy

// ring remembers the last few keys.
type ring struct {
	keys [64]string
	next int
}

// add remembers a key and returns the one it pushed out.
func (r *ring) add(key string) (old string) {
	old, r.keys[r.next] = r.keys[r.next], key
	r.next = (r.next + 1) % len(r.keys)
	return old
}

func (r *ring) has(key string) bool {
	for _, k := range r.keys {
		if k == key && key != "" {
			return true
		}
	}
	return false
}
