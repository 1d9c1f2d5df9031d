package client

// EntryTokens gives the words of an entry that an edit moves or puts in, as the file
// writes them: the command, and when it is wrapped everything from clawai's path
// to the server's own command. No argument of the server is among them. Of a
// remote entry they are the address, unless that may hold a secret.
func EntryTokens(r Row, src []byte, e Entry) ([]string, error) {
	f, err := openFile(r, src)
	if err != nil {
		return nil, err
	}
	_, sh, err := f.findTarget(e)
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
