package inspect

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// tag is text that looks like an HTML tag, with the attributes that the detectors need.
type tag struct {
	start, end int // offsets in the text; a tag without an end ends at its first >, or where the reading stopped
	closed     bool
	name       string
	links      []string // addresses that a browser opens without a click, from attributes such as src and srcset
	styles     []string // values of the attribute style; "name: value" for attributes in svgStyles
	hidden     bool     // it has the attribute hidden
}

const (
	tagStart  = "<"
	tagLength = 2048 // maximum number of bytes that are read of a tag
	longTags  = 8    // limit for the bytes of longer tags, as a multiple of the text's length
)

// visitTags visits the tags that have a style, a link or the attribute hidden. Tags may be nested.
func (f *findings) visitTags(k Kind, visit func(t tag)) {
	t := f.text
	f.read, f.tooLong = 0, false
	for at := 0; !f.tooLong; at++ {
		n := strings.Index(t[at:], tagStart)
		if n < 0 {
			return
		}
		at += n
		if one, ok := f.tagAt(at); ok && (len(one.styles) > 0 || len(one.links) > 0 || one.hidden) {
			visit(one)
		}
		if f.tooLong {
			f.noteUnscreened(k, "behind tags that are too long", at)
		}
	}
}

// tagAt reads the tag that may begin at a place. If the tag is longer than tagLength, tagAt reads
// it to its end too, because such tags are rare. A limit (longTags) ends this in a text with many
// such tags.
func (f *findings) tagAt(at int) (t tag, ok bool) {
	if !beginsTag(f.text[at:]) {
		return t, false
	}
	until := min(len(f.text), at+tagLength)
	if t, _, ok = readTag(f.text, at, until); !ok || t.closed || until == len(f.text) {
		return t, ok
	}
	if f.read > longTags*len(f.text) {
		f.tooLong = true
		return t, ok
	}
	long, end, ok := readTag(f.text, at, len(f.text))
	f.read += end - at
	if ok && long.closed {
		return long, true
	}
	return t, true
}

func beginsTag(text string) bool {
	return len(text) > 1 && text[0] == '<' && text[1]|0x20 >= 'a' && text[1]|0x20 <= 'z'
}

// readTag reads the tag at text[at] in the way of a browser, but only up to the offset until. The
// result read is the offset where it stopped. If another tag begins outside quotes, the text is no
// tag.
func readTag(text string, at, until int) (t tag, read int, ok bool) {
	t.start = at
	i := at + 1
	blanks := func() {
		for i < until && isBlank(text[i]) {
			i++
		}
	}
	// word reads up to a blank or a byte of ends. sound is false if another tag begins first.
	word := func(ends string) (from int, sound bool) {
		for from = i; i < until && !isBlank(text[i]) && (i == from && ends != ">" || strings.IndexByte(ends, text[i]) < 0); i++ {
			if text[i] == '<' && beginsTag(text[i:]) {
				return from, false
			}
		}
		return from, true
	}
	from, sound := word("/>")
	t.name = text[from:i]
	for sound {
		for i < until && (isBlank(text[i]) || text[i] == '/') {
			i++
		}
		if i < until && text[i] == '>' {
			t.end, t.closed = i+1, true
			return t, i, true
		}
		if i == until {
			break
		}
		if from, sound = word("/>="); !sound {
			break
		}
		name := text[from:i]
		t.hidden = t.hidden || strings.EqualFold(name, "hidden")
		if blanks(); i == until || text[i] != '=' {
			continue
		}
		i++
		if blanks(); i == until {
			break
		}
		if quote := text[i]; quote == '"' || quote == '\'' {
			inside := text[i+1 : until]
			n := strings.IndexByte(inside, quote)
			if n < 0 {
				if n = strings.IndexAny(inside, "<>"); n < 0 {
					n = len(inside)
				}
				t.noteAttribute(name, inside[:n])
				i = until
				break
			}
			t.noteAttribute(name, inside[:n])
			i += n + 2
			continue
		}
		if from, sound = word(">"); sound {
			t.noteAttribute(name, text[from:i])
		}
	}
	if !sound {
		return t, i, false
	}
	t.end = min(at+tagLength, until)
	if n := strings.IndexByte(text[at:t.end], '>'); n >= 0 {
		t.end = at + n + 1
	}
	for t.end < len(text) && !utf8.RuneStart(text[t.end]) {
		t.end--
	}
	return t, i, true
}

func (t *tag) noteAttribute(name, value string) {
	switch {
	case strings.EqualFold(name, "style") && value != "":
		t.styles = append(t.styles, value)
	case value == "":
	case isFolded(svgTags, t.name) && isFolded(svgStyles, name):
		t.styles = append(t.styles, name+":"+value)
	case strings.EqualFold(name, "src"), strings.EqualFold(name, "srcset"), strings.EqualFold(name, "poster"), strings.EqualFold(name, "background"),
		(strings.EqualFold(name, "href") || strings.EqualFold(name, "xlink:href")) && strings.EqualFold(t.name, "image"):
		t.links = append(t.links, value)
	}
}

// drawsQuery reports whether a browser that draws the tag opens an address that has a query.
func (t *tag) drawsQuery() bool {
	draws := isFolded(drawing, t.name)
	if !draws && len(t.styles) == 0 {
		return false
	}
	for _, link := range t.links {
		link = html.UnescapeString(link)
		if draws && (hasQuery(withoutBreaks.Replace(link)) || slices.ContainsFunc(strings.Fields(link), func(one string) bool { // srcset has several addresses
			return hasQuery(strings.Trim(one, ","))
		})) {
			return true
		}
	}
	for _, style := range t.styles {
		if !strings.Contains(style, "(") && !strings.Contains(style, "&") {
			continue
		}
		for _, m := range styleAddress().FindAllStringSubmatch(plainStyle(html.UnescapeString(style)), -1) {
			if hasQuery(m[1]) {
				return true
			}
		}
	}
	return false
}

// drawing are the tags for which a browser loads and draws an image.
var drawing = []string{"img", "image", "source", "video", "input", "body", "table", "td", "th"}

// withoutBreaks removes the characters that a browser removes from an address.
var withoutBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

var styleAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)url\(\s*["']?([^"')\s]+)`) })

// svgTags are the SVG tags that draw text. svgStyles are attributes of these tags that work like
// the style property of the same name.
var (
	svgTags   = []string{"svg", "g", "a", "text", "tspan", "textPath", "tref", "switch", "symbol", "use", "foreignObject"}
	svgStyles = []string{"display", "visibility", "opacity", "font-size", "font", "transform", "clip-path", "filter"}
)

func isFolded(among []string, name string) bool {
	return slices.ContainsFunc(among, func(one string) bool { return strings.EqualFold(one, name) })
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// hidesText reports whether the style of the tag hides the content of the tag.
func (t tag) hidesText() bool {
	if len(t.styles) == 0 {
		return false
	}
	style, forms := plainStyle(html.UnescapeString(strings.Join(t.styles, ";"))), hidingStyles()
	return forms.hides.MatchString(style) || forms.empty.MatchString(style) && forms.cuts.MatchString(style)
}

// stylesThatHide are expressions for styles that hide text. hides matches a single property that
// hides. A style that both empty and cuts match is a box without size that cuts off its content.
type stylesThatHide struct{ hides, empty, cuts *regexp.Regexp }

var hidingStyles = sync.OnceValue(func() stylesThatHide {
	const zero = `(?:calc\(\s*)?(?:[+-]?(?:0+(?:[^.0-9]|\.0|$)|\.0)|[0-9]*\.?[0-9]+e-[0-9])`
	return stylesThatHide{
		hides: regexp.MustCompile(`(?i)(?:display\s*:\s*none|content-visibility\s*:\s*hidden|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*-|(?:font-size|opacity|(?:[^a-z-]|^)zoom)\s*:\s*` + zero +
			`|(?:[^a-z-]|^)scale\s*:\s*(?:[^;\s]+\s+)?` + zero +
			`|\bfont\s*:\s*(?:[a-z0-9-]+\s+)*` + zero + `|transform\s*:[^;]*(?:\bscale(?:x|y|3d)?\(\s*(?:[^,()]+,\s*)?` + zero + `|\brotate[xy]\([^)]*\b90deg|\btranslate(?:x|y|3d)?\(\s*-\d{4})|(?:[^a-z-]|^)translate\s*:\s*-\d{4}` + `|filter\s*:[^;]*\bopacity\(\s*` + zero +
			`|clip-path\s*:\s*(?:inset\(\s*(?:[5-9]\d|100)%|inset\([^)]*\b1\d\d(?:\.\d*)?%|(?:circle|ellipse)\(\s*` + zero + `|ellipse\(\s*[^\s,)]+\s+` + zero +
			`|polygon\(\s*(?:[a-z]+\s*,\s*)?0[a-z%]*\s+0[a-z%]*\s*(?:,\s*0[a-z%]*\s+0[a-z%]*\s*)*\)|rect\(\s*0[a-z%]*\s+0[a-z%]*\s+0|xywh\(\s*\S+\s+\S+\s+(?:[^\s)]+\s+)?` + zero + `)|\bclip\s*:\s*rect\(\s*0[a-z]*[\s,]+0[a-z]*[\s,]+0|(?:text-indent\s*:\s*-\d{3}|(?:left|top|right)\s*:\s*-\d{4}))`),
		empty: regexp.MustCompile(`(?i)(?:^|[;\s])(?:max-)?(?:height|width|block-size|inline-size)\s*:\s*` + zero),
		cuts:  regexp.MustCompile(`(?i)overflow(?:-[xy])?\s*:\s*(?:hidden|clip)`),
	}
})

// plainStyle returns a style without comments and escapes (CSS Syntax 4.3.7).
func plainStyle(style string) string {
	if !strings.Contains(style, "/*") && strings.IndexByte(style, '\\') < 0 {
		return style
	}
	var b strings.Builder
	for i := 0; i < len(style); {
		switch {
		case strings.HasPrefix(style[i:], "/*"):
			n := strings.Index(style[i+2:], "*/")
			if n < 0 {
				return b.String()
			}
			i += n + 4
			b.WriteByte(' ')
		case style[i] == '\\' && i+1 < len(style):
			i++
			r, n := rune(0), 0
			for n < 6 && i+n < len(style) && isHex(style[i+n]) {
				c := style[i+n]
				if c > '9' {
					c = c&0xf + 9
				}
				r, n = r<<4|rune(c&0xf), n+1
			}
			if n == 0 {
				b.WriteByte(style[i])
				i++
				continue
			}
			b.WriteRune(r)
			if i += n; i < len(style) && isBlank(style[i]) {
				i++
			}
		default:
			b.WriteByte(style[i])
			i++
		}
	}
	return b.String()
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// empties are the HTML tags without content. raws are the HTML tags whose content is text in which
// no tag begins.
var (
	empties = map[string]bool{"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "link": true, "meta": true, "param": true, "source": true, "track": true, "wbr": true}
	raws    = map[string]bool{"script": true, "style": true, "textarea": true, "title": true, "xmp": true, "iframe": true, "noembed": true, "noframes": true}
)

// bodyEnd returns the end of a tag's content: the place of the tag's own end tag. Nested tags of
// the same name have their own end tags. Text in comments, scripts and quotes is no tag.
func (f *findings) bodyEnd(t tag) int {
	name := strings.ToLower(t.name)
	if empties[name] {
		return t.end
	}
	text, depth := f.text, 1
	for at := t.end; ; {
		n := strings.IndexByte(text[at:], '<')
		if n < 0 {
			return len(text)
		}
		at += n
		rest := text[at+1:]
		switch {
		case strings.HasPrefix(rest, "!--"):
			n := strings.Index(rest, "-->")
			if n < 0 {
				return len(text)
			}
			at += n + len("-->")
		case strings.HasPrefix(rest, "/") && isNamed(rest[1:], name):
			if depth--; depth == 0 {
				return at
			}
			at += len("</")
		default:
			one, ok := f.tagAt(at)
			if !ok || !one.closed {
				at++
				continue
			}
			inner := strings.ToLower(one.name)
			if inner == name {
				depth++
			}
			if at = one.end; raws[inner] && inner != name {
				n := indexFold(text[at:], "</"+inner)
				if n < 0 {
					return len(text)
				}
				at += n
			}
		}
	}
}

// isNamed reports whether a text begins with the name of a tag, in any case.
func isNamed(text, name string) bool {
	return len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) &&
		(len(text) == len(name) || isBlank(text[len(name)]) || text[len(name)] == '>' || text[len(name)] == '/')
}
