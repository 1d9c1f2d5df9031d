package frame

// CheckFolded checks the params of a call more strictly than Parse, because servers decode params
// into typed values. It refuses two names in one object that differ only in case, at any depth. In
// the outermost object, it also refuses a name that differs only in case from a known name. It
// refuses a number that some readers round. raw must be a value that Parse admitted. Do not use
// CheckFolded for results and schemas, because there such names are data.
func CheckFolded(raw []byte, known ...string) *Refusal {
	s := scanner{b: raw, depth: maxDepth, params: true, judged: true}
	i := s.skipBlank(0)
	if i < len(raw) && raw[i] == '{' && len(known) > 0 {
		s.noteVariants(i, known)
	}
	return s.finishScan(s.scanValue(i, 0))
}

// noteVariants notes a fault for each name in the object at i that differs from a known name only
// in case.
func (s *scanner) noteVariants(i int, known []string) {
	i = s.skipBlank(i + 1)
	for more := i < len(s.b) && s.b[i] != '}'; more && s.stopped == nil; {
		n, v := s.scanMember(i)
		if v < 0 {
			return
		}
		key := s.nameKey(n, false, 0)
		for _, k := range known {
			if string(key) != k && FoldsTo(key, k) {
				s.noteFault(CodeFolded, n.from)
			}
		}
		if i = s.scanValue(v, 1); i >= 0 {
			i, more = s.scanNext(i, '}')
		}
	}
}
