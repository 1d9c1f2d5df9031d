package termtest

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// Look is the style of one cell.
type Look struct {
	Bold, Dim, Reverse bool
	Color              int // 31 red, 32 green, 33 yellow, 36 cyan; 0 for the default color
}

func plain(rows, cols int) [][]Look {
	looks := make([][]Look, rows)
	for i := range looks {
		looks[i] = make([]Look, cols)
	}
	return looks
}

// style handles the parameters of the sequence SGR. All screens may use bold and reverse. Colors
// are a problem unless Colors is set.
func (e *Emulator) style(params string) {
	for p := range strings.SplitSeq(params, ";") {
		e.styles[p] = true
		switch p {
		case "", "0":
			e.look = Look{}
		case "1":
			e.look.Bold = true
		case "2":
			e.look.Dim = true
		case "22":
			e.look.Bold, e.look.Dim = false, false
		case "7", "27":
			e.look.Reverse = p == "7"
		case "31", "32", "33", "36", "39":
			if !e.Colors {
				e.problems = append(e.problems, "style "+params)
			}
			e.look.Color, _ = strconv.Atoi(p)
			if p == "39" {
				e.look.Color = 0
			}
		default:
			e.problems = append(e.problems, "style "+params)
		}
	}
}

// The width and the height of a cell in a picture, in SVG units.
const cellWide, cellHigh = 8.4, 18

var ink = map[int]string{0: "#d7dae0", 31: "#f2777a", 32: "#7ec98f", 33: "#e0b25c", 36: "#6cb6d9"}

// Color returns the color in a picture for a color of the terminal, such as 31 for red.
func Color(code int) string { return ink[code] }

// SVG returns the screen as an SVG picture, without the empty rows at the end.
func (e *Emulator) SVG() string { return e.Top(e.rows) }

// Top is like SVG, but only for the first rows of the screen.
func (e *Emulator) Top(rows int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for rows > 0 && strings.TrimSpace(string(e.cells[rows-1])) == "" {
		rows--
	}
	w, h := float64(e.cols)*cellWide+32, float64(rows)*cellHigh+32
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" width="%.0f" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">`+"\n", w, h, w)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#1d2027"/>` + "\n")
	for y := range rows {
		for x := 0; x < e.cols; {
			end := x + 1
			for end < e.cols && e.looks[y][end] == e.looks[y][x] {
				end++
			}
			b.WriteString(run(strings.ReplaceAll(string(e.cells[y][x:end]), "\x00", ""), e.looks[y][x], x, y, end-x))
			x = end
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run returns the SVG text of adjacent cells with the same look.
func run(text string, l Look, x, y, cells int) string {
	at, top := 16+float64(x)*cellWide, 16+float64(y)*cellHigh
	color, box, weight := ink[l.Color], "", ""
	if l.Reverse {
		box = fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`, at, top, float64(cells)*cellWide, cellHigh, color)
		color = "#1d2027"
	}
	body := strings.TrimRight(text, " ")
	lead := len(body) - len(strings.TrimLeft(body, " "))
	if body = body[lead:]; body == "" {
		if box != "" {
			box += "\n"
		}
		return box
	}
	if l.Bold {
		weight = ` font-weight="bold"`
	}
	return fmt.Sprintf(`%s<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" xml:space="preserve">%s</text>`+"\n",
		box, at+float64(lead)*cellWide, top+13.5, color, weight, float64(runes(body))*cellWide, html.EscapeString(body))
}

func runes(s string) int { return len([]rune(s)) }
