package view

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
)

// looksLikePath reports whether a value looks like a path. It is used for arguments whose name does
// not say that they hold a path.
func looksLikePath(s string) bool {
	for _, root := range []string{"~/", "../", "./", "file:", "$HOME", "%", `\\`, "/home/", "/Users/", "/root/", "/etc/", "/var/", "/usr/",
		"/tmp/", "/opt/", "/mnt/", "/media/", "/srv/", "/dev/", "/proc/", "/sys/", "/boot/", "/private/", "/Library/", "/System/", "/Volumes/"} {
		if strings.HasPrefix(s, root) {
			return true
		}
	}
	return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// inspectPath searches an argument that is a path for reasons for care.
func (l *dangerFinder) inspectPath(s string) {
	if s == "" || len(s) > maxName || strings.Contains(s, "://") && !strings.HasPrefix(strings.ToLower(s), "file:") {
		return
	}
	if l.writes {
		for _, plain := range pathReadings(s, l.o.Home) {
			if l.o.Project == "" && isOutside(plain, l.base) {
				l.addFinding(whyNoFolder, s)
				break
			} else if l.o.Project != "" && isOutside(plain, l.o.Project) {
				l.addFinding(whyOutside, s)
				break
			}
		}
	}
	l.matchPlaces(s)
}

// matchPlaces compares a path with the table of places.
func (l *dangerFinder) matchPlaces(s string) {
	if len(s) > maxName {
		return
	}
	seen := map[string]bool{}
	for _, plain := range pathReadings(s, l.o.Home) {
		inside := l.o.Project != "" && !isOutside(plain, l.o.Project)
		for i := range places() {
			p := &places()[i]
			if p.write && !l.writes && !l.mayWrite || inside && p.why == whySystem || seen[p.why] || !p.ContainsPath(plain) && !p.mayName(plain) && !(l.mayWrite && p.write && p.LiesBelow(plain)) {
				continue
			}
			seen[p.why] = true
			l.addFinding(p.why, s)
		}
		for _, own := range l.o.Own {
			if own != "" && isRooted(plain) && !isOutside(plain, own) && !seen[whyOwn] {
				seen[whyOwn] = true
				l.addFinding(whyOwn, s)
			}
		}
	}
}

// inspectHost searches an argument that is a host or an address for reasons for care.
func (l *dangerFinder) inspectHost(key, s string) {
	if !slices.Contains(hostKeys, key) {
		key = ""
	}
	host, userinfo := hostOf(key, s)
	if userinfo {
		l.addFinding(whyUserinfo, s)
	}
	if why := dangerousHost(host); why != "" {
		l.addFinding(why, s)
	}
}

func (l *dangerFinder) inspectElicitation(names []string) {
	for i, s := range names {
		if i > 0 {
			l.addFinding(whyAddress, s)
			l.inspectHost("url", s)
			continue
		}
		low := strings.ToLower(s[:cutOffset(s, min(len(s), maxLooked))])
		if slices.ContainsFunc(textclass.SecretPhrases, func(w string) bool { return strings.Contains(low, w) }) {
			l.addFinding(whyAsks, "")
		}
	}
}

// grave are the entries of Arg.Marks that need care even in prose.
var grave = []string{markDirection, markTags}

// ordinary are the entries of Arg.Marks that never need care.
var ordinary = []string{markRight, markStacked, markBlanks}

// inspectDisguises adds a reason for care if a name or a value has misleading characters
// (Arg.Marks).
func (l *dangerFinder) inspectDisguises(r *Request, names []string) {
	for i := range r.Named {
		l.inspectDisguise(&r.Named[i], r.Word == "text" || r.Word == "asks" && i == 0)
	}
	for i := range r.Args {
		a := &r.Args[i]
		key := a.Path[strings.LastIndexByte(a.Path, '.')+1:]
		if j := strings.IndexByte(key, '['); j > 0 {
			key = key[:j]
		}
		l.inspectDisguise(a, slices.Contains(proseKeys, plainKey(key)))
	}
	for _, name := range names {
		for _, mark := range findMarks(name) {
			l.addFinding(whyDisguise+" ("+mark+")", name)
		}
	}
}

func (l *dangerFinder) inspectDisguise(a *Arg, prose bool) {
	for _, mark := range a.Marks {
		if slices.Contains(grave, mark) || !prose && !slices.Contains(ordinary, mark) {
			l.addFinding(whyDisguise+" ("+mark+")", "")
		}
	}
}
