package frame

// CheckFolded is what a judged call's params owe beyond Parse, since servers
// bind them to types: at no depth do two names differ in case only, no member
// of the outermost object is a case variant of one of known, and no number is
// one that some readers round. raw is a value Parse admitted. Results and
// schemas are not for this door: there, case variants are data.
func CheckFolded(raw []byte, known ...string) *Refusal {
	s := scanner{b: raw, depth: maxDepth, params: true, judged: true}
	i := s.blank(0)
	if i < len(raw) && raw[i] == '{' && len(known) > 0 {
		s.variants(i, known)
	}
	return s.finish(s.value(i, 0))
}

// variants notes the names of the object at i that fold onto a known one
// without being it.
func (s *scanner) variants(i int, known []string) {
	i = s.blank(i + 1)
	for more := i < len(s.b) && s.b[i] != '}'; more && s.stopped == nil; {
		n, v := s.member(i)
		if v < 0 {
			return
		}
		key := s.key(n, false, 0)
		for _, k := range known {
			if string(key) != k && FoldsTo(key, k) {
				s.note(CodeFolded, n.from)
			}
		}
		if i = s.value(v, 1); i >= 0 {
			i, more = s.after(i, '}')
		}
	}
}
