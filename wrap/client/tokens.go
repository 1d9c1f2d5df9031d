package client

// EntryTokens returns the words of an entry that an edit moves or inserts, in the notation of the
// file:
//   - for an entry that starts a process: the command
//   - for a wrapped entry: all words from clawai's path to the server's command
//   - for a remote entry: the address, or nothing if the address may contain a secret
//
// It never returns the arguments of the server.
func EntryTokens(r Row, src []byte, e Entry) ([]string, error) {
	f, _, sh, err := openTarget(r, src, e)
	if err != nil {
		return nil, err
	}
	if sh.remote != nil && sh.remote.original == nil {
		if r.HidesAddress(sh.remote.url.value.text) {
			return nil, nil
		}
		return []string{f.rawText(sh.remote.url.value)}, nil
	}
	v, _ := readInvocation(sh.words)
	tokens := make([]string, 0, v.inner+1)
	for _, w := range sh.words[:v.inner+1] {
		tokens = append(tokens, f.rawText(w))
	}
	return tokens, nil
}
