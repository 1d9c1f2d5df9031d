package proxy

// ring holds copies of the last 64 keys.
type ring struct {
	keys [64][]byte
	next int
}

// oldestKey returns the key that the next call of addKey replaces.
func (r *ring) oldestKey() []byte { return r.keys[r.next] }

func (r *ring) addKey(key string) {
	r.keys[r.next] = append(r.keys[r.next][:0], key...)
	r.next = (r.next + 1) % len(r.keys)
}

func (r *ring) hasKey(key string) bool {
	for _, k := range r.keys {
		if string(k) == key && key != "" {
			return true
		}
	}
	return false
}
