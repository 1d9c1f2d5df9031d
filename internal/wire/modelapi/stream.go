package modelapi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Place is where a reply names the tool of a call.
type Place struct {
	Call *Call
	Name jsonscan.Value // a part of the event, or of the body
}

// Step holds the new parts in an event of a stream, or all parts of a whole reply.
type Step struct {
	Calls  []*Call  // complete with this event; their arguments are known
	Places []Place  // the names of calls in this event, also of calls that were complete before
	Hold   bool     // a call has begun and is not complete
	Hosted []Result // results of tools that the service ran
	Unread []string // kinds of parts whose content this package does not know
}

// Stream reads the events of one streamed reply, in their order. The zero value is not valid.
type Stream struct {
	api  API
	open []*partialCall
	all  []*partialCall // Responses: the calls so far, because later events hold them again
	held int            // bytes of arguments of the open calls
	step Step

	parts      int             // Messages: the blocks that have begun; Responses: the items
	misplaced  bool            // Messages, Responses: a part has another number than its place
	numbered   bool            // Chat: a piece of a call has come with its number
	unnumbered bool            // Chat: a piece of a call has come without its number
	others     map[string]bool // Messages: the open blocks that are no call for the client
	choices    map[string]bool // Chat: the choices that have ended
	ids        map[string]bool // the calls that have begun, by their ids
	begun      int             // how many calls have begun
	over       bool            // the mark of the end has come
}

// partialCall is a call that is not complete yet.
type partialCall struct {
	call     *Call
	at       string          // its place in the reply
	pieces   strings.Builder // pieces of the arguments, as the reply writes them
	begun    bool            // some of the arguments came in pieces
	done     bool            // Responses: the service has sent the complete call
	repeated bool            // Responses: the end of the reply has repeated the call
}

// text returns the arguments that came in pieces. They are joined before they are decoded: a piece may
// end within a character.
func (g *partialCall) text() string { return jsonscan.Value(`"` + g.pieces.String() + `"`).Text() }

// NewStream returns the reader of a reply in the form of an API.
func NewStream(api API) *Stream {
	return &Stream{api: api, others: map[string]bool{}, choices: map[string]bool{}, ids: map[string]bool{}}
}

// ReadEvent reads an event: its name ("" for none) and its data. Its places are parts of data.
func (s *Stream) ReadEvent(name string, data []byte) (Step, error) {
	s.step = Step{}
	text := bytes.TrimSpace(data)
	if s.api == Chat || s.api == Gemini {
		if name != "" && name != "message" { // some clients drop such an event
			return s.finishStep(), fmt.Errorf("an event is called %s", shorten(name))
		}
	}
	if len(text) == 0 {
		return s.finishStep(), nil
	}
	if string(text) == "[DONE]" {
		s.over = true
		s.closeAll()
		s.distrustBatch()
		return s.finishStep(), nil
	}
	if s.over { // some clients have stopped reading, others continue
		return s.finishStep(), errors.New("it goes on after the mark of its end")
	}
	v, err := parseDocument(data)
	if err == nil {
		err = s.checkName(name, v)
	}
	if err == nil {
		err = s.readValue(v)
	}
	if err == nil && (s.held > maxArguments || len(s.open)+len(s.step.Calls) > maxCalls) {
		err = errors.New("its calls are longer than clawai reads")
	}
	s.distrustBatch()
	return s.finishStep(), err
}

// distrustBatch marks calls of Chat that are complete at the same time as unreadable if one of them
// is unreadable. Some clients add a piece that does not fit its own call to another call.
func (s *Stream) distrustBatch() {
	calls := s.step.Calls
	if s.api != Chat || len(calls) < 2 || !slices.ContainsFunc(calls, func(c *Call) bool { return c.Bad != "" }) {
		return
	}
	for _, c := range calls {
		if c.Bad == "" {
			c.Bad = "the arguments of a call beside it cannot be read, and clients may have joined them in another way"
		}
	}
}

// checkName returns an error if an event's name differs from its type (Messages, Responses). This
// package uses the type. A client that uses the name would drop other events and join other pieces
// than this package.
func (s *Stream) checkName(name string, v jsonscan.Value) error {
	kind := v.Member("type").Text()
	if v.Kind() == jsonscan.Object && s.api != Gemini && s.api != Chat && v.Member("type").Kind() != jsonscan.String {
		return errors.New("an event has no type")
	}
	if s.api == Messages && name != kind || s.api == Responses && name != "" && name != kind {
		return fmt.Errorf("an event is called %q and has the type %q", shorten(name), shorten(kind))
	}
	return nil
}

// Finish returns the calls that were not complete when the stream ended.
func (s *Stream) Finish() Step {
	s.step = Step{}
	s.closeAll()
	s.distrustBatch()
	return s.finishStep()
}

func (s *Stream) finishStep() Step {
	s.step.Hold = len(s.open) > 0
	return s.step
}

func (s *Stream) readValue(v jsonscan.Value) error {
	if s.api == Gemini && v.Kind() == jsonscan.Array { // the form without alt=sse
		for one := range v.Elements() {
			if err := s.readValue(one); err != nil {
				return err
			}
		}
		return nil
	}
	o, err := readObject(v)
	if err != nil {
		return err
	}
	switch s.api {
	case Messages:
		return s.readMessagesEvent(&o)
	case Responses:
		return s.readResponsesEvent(&o)
	case Chat:
		return s.readChatChunk(&o)
	case Gemini:
		return s.readCandidates(&o)
	case NoAPI:
	}
	return errors.New("its form is not known")
}

// ReadReply reads a reply that is no stream. Places are parts of body.
func ReadReply(api API, body []byte) (Step, error) {
	s := NewStream(api)
	v, err := parseDocument(body)
	if err != nil {
		return Step{}, err
	}
	if api == Gemini {
		err = s.readValue(v)
		return s.finishStep(), err
	}
	o, err := readObject(v)
	if err != nil {
		return Step{}, err
	}
	switch api {
	case Messages:
		_, err = s.readBlocks(o.value("content"))
	case Responses:
		err = s.readOutput(&o)
	default:
		err = s.readChatChunk(&o)
	}
	s.closeAll()
	return s.finishStep(), err
}

func (s *Stream) noteUnread(kind string) {
	if len(s.step.Unread) < 16 {
		s.step.Unread = append(s.step.Unread, shorten(kind))
	}
}

// openCall opens a call. Two calls with one id are an error, because clients join their pieces.
func (s *Stream) openCall(at string, c Call, place jsonscan.Value) (*partialCall, error) {
	if !utf8.ValidString(c.Name) {
		return nil, errors.New("the name of a call is not UTF-8")
	}
	if c.ID != "" && s.api != Gemini {
		if s.ids[c.ID] {
			return nil, fmt.Errorf("two calls have the id %s", shorten(c.ID))
		}
		s.ids[c.ID] = true
	}
	s.begun++
	g := &partialCall{call: &c, at: at}
	s.open = append(s.open, g)
	s.step.Places = append(s.step.Places, Place{g.call, place})
	return g, nil
}

// addWhole adds a call that came whole.
func (s *Stream) addWhole(at string, c Call, place jsonscan.Value) error {
	g, err := s.openCall(at, c, place)
	if err == nil {
		s.closeCall(g)
	}
	return err
}

func (s *Stream) findOpen(at string) *partialCall {
	for _, g := range s.open {
		if g.at == at {
			return g
		}
	}
	return nil
}

// growCall adds a piece of the arguments: a string of JSON.
func (s *Stream) growCall(g *partialCall, piece jsonscan.Value) error {
	if piece == "" {
		return nil
	}
	if piece.Kind() != jsonscan.String {
		return fmt.Errorf("a piece of arguments is %s", nounOf(piece))
	}
	if !utf8.ValidString(string(piece)) { // some clients join a character that is cut in two, others replace both halves
		return errors.New("a piece of arguments is not UTF-8")
	}
	g.begun = true
	g.pieces.WriteString(string(piece[1 : len(piece)-1]))
	s.held += len(piece) - 2
	return nil
}

// closeCall closes a call.
func (s *Stream) closeCall(g *partialCall) {
	for i := range s.open {
		if s.open[i] == g {
			s.open = append(s.open[:i], s.open[i+1:]...)
			break
		}
	}
	if s.api == Messages && g.begun {
		if whole := string(g.call.Args); whole != "" && whole != "{}" {
			g.call.Bad = "its arguments come in two versions"
		} else {
			g.call.Args, g.call.Bad = parseArguments(g.text())
		}
	}
	if s.api == Responses && g.begun && !g.done { // a client may run the call without its end
		*g.call = g.joined(*g.call)
	}
	if s.api == Chat {
		g.call.Text = g.text()
		*g.call = g.call.withArguments()
	}
	s.held -= g.pieces.Len()
	s.step.Calls = append(s.step.Calls, g.call)
	if s.api == Responses {
		s.all = append(s.all, g)
	}
}

// isWhole reports whether the arguments that have come are a whole object.
func (g *partialCall) isWhole() bool {
	args, bad := parseArguments(g.text())
	return args != nil && bad == ""
}

// joined returns a call of Responses with the arguments that came in pieces.
func (g *partialCall) joined(c Call) Call {
	if c.Free {
		c.Text = g.text()
	} else if !c.Fixed {
		c.Args, c.Bad = parseArguments(g.text())
	}
	return c
}

func (s *Stream) closeAll() {
	for len(s.open) > 0 {
		s.closeCall(s.open[0])
	}
}

// readMessagesEvent reads an event of Messages.
func (s *Stream) readMessagesEvent(o *object) error {
	at := string(o.value("index"))
	switch o.text("type") {
	case "content_block_start", "content_block_delta", "content_block_stop":
		if err := checkIndex(at); err != nil {
			return err
		}
	}
	switch o.text("type") {
	case "message_start":
		m, err := o.object("message")
		if err != nil {
			return err
		}
		if s.parts > 0 {
			return errors.New("a message begins within another")
		}
		s.parts, err = s.readBlocks(m.value("content"))
		return err
	case "content_block_start":
		b, err := o.object("content_block")
		if err != nil {
			return err
		}
		if s.findOpen(at) != nil || s.others[at] {
			return fmt.Errorf("block %s begins twice", at)
		}
		s.misplaced = s.misplaced || at != strconv.Itoa(s.parts)
		s.parts++
		g, err := s.beginBlock(at, &b)
		s.others[at] = g == nil
		if g != nil && s.misplaced { // some clients count the blocks, others use the index
			return fmt.Errorf("block %s, a call, is not the one with that number", at)
		}
		return err
	case "content_block_delta":
		d, err := o.object("delta")
		if err == nil {
			err = d.checkTexts("type", "partial_json")
		}
		if err != nil || d.text("type") != "input_json_delta" {
			return err
		}
		g := s.findOpen(at)
		switch {
		case s.misplaced && s.begun > 0:
			return fmt.Errorf("arguments come for block %s, and the blocks are not numbered in order", at)
		case g != nil && d.value("partial_json") == "":
			return errors.New("a piece of arguments is missing")
		case g != nil:
			return s.growCall(g, d.value("partial_json"))
		case !s.others[at]:
			return fmt.Errorf("arguments come for block %s, which is not a call", at)
		}
	case "content_block_stop":
		if g := s.findOpen(at); g != nil {
			s.closeCall(g)
		} else if !s.others[at] { // a client may take the block a second time
			return fmt.Errorf("block %s ends and was not open", at)
		}
		delete(s.others, at)
	case "message_stop":
		clear(s.others)
		s.closeAll()
	}
	return nil
}

// checkIndex checks that a place is a number in the one form that all clients read alike: a client may
// take "1", 1.0 and 1 for the same.
func checkIndex(at string) error {
	if n, err := strconv.Atoi(at); err != nil || n < 0 || strconv.Itoa(n) != at {
		return fmt.Errorf("a part of the reply has the place %s", shorten(at))
	}
	return nil
}

// beginBlock opens the call of a block of Messages, if it is one.
func (s *Stream) beginBlock(at string, b *object) (*partialCall, error) {
	if err := b.checkTexts("type", "name", "id"); err != nil {
		return nil, err
	}
	kind := b.text("type")
	switch {
	case kind == "tool_use":
		if b.text("name") == "" {
			return nil, errors.New("a call has no name")
		}
		return s.openCall(at, Call{ID: b.text("id"), Name: b.text("name"), Args: b.value("input").Bytes()}, b.value("name"))
	case strings.HasSuffix(kind, "_tool_result"):
		s.step.Hosted = append(s.step.Hosted, Result{ID: b.text("tool_use_id"), Name: kind, Content: b.value("content"), Hosted: true})
	case kind != "text" && !plainBlocks[kind]:
		s.noteUnread(kind)
	}
	return nil, nil
}

// readBlocks reads blocks that came whole, and returns how many there are.
func (s *Stream) readBlocks(v jsonscan.Value) (n int, err error) {
	err = visitObjects(v, func(b *object) error {
		n++
		g, err := s.beginBlock("whole "+strconv.Itoa(n), b)
		if g != nil {
			s.closeCall(g)
		}
		return err
	})
	return n, err
}

// readResponsesEvent reads an event of Responses.
func (s *Stream) readResponsesEvent(o *object) error {
	at := string(o.value("output_index"))
	switch kind := o.text("type"); kind {
	case "response.output_item.added", "response.output_item.done":
		item, err := o.object("item")
		if err != nil {
			return err
		}
		if strings.HasSuffix(kind, ".done") {
			return s.readItem(at, &item, itemDone)
		}
		s.misplaced = s.misplaced || at != "" && at != strconv.Itoa(s.parts)
		s.parts++
		return s.readItem(at, &item, itemAdded)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		g := s.findOpen(at)
		switch {
		case g == nil:
			return fmt.Errorf("arguments come for %s, which is not a call", shorten(at))
		case s.misplaced: // some clients count the items, others use the index
			return fmt.Errorf("arguments come for item %s, and the items are not numbered in order", shorten(at))
		case o.value("delta") == "":
			return errors.New("a piece of arguments is missing")
		}
		return s.growCall(g, o.value("delta"))
	case "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		return s.checkDone(at, o)
	}
	r, err := o.object("response")
	if err != nil {
		return err
	}
	switch o.text("type") {
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		return s.readOutput(&r)
	}
	return visitObjects(r.value("output"), func(item *object) error { // clients add these items to the reply
		if _, is, err := readItemCall(item); is || err != nil {
			return errors.New("a call comes in an event that is not for calls")
		}
		s.misplaced = true
		return nil
	})
}

// checkDone compares the arguments that an event repeats with the pieces that came.
func (s *Stream) checkDone(at string, o *object) error {
	g := s.findOpen(at)
	if g == nil {
		return fmt.Errorf("arguments end for %s, which is not a call", shorten(at))
	}
	if err := o.checkTexts("arguments", "input", "name"); err != nil {
		return err
	}
	whole := o.firstOf("arguments", "input")
	if g.begun && g.text() != whole.Text() {
		return errors.New("the arguments of a call come in two versions")
	}
	if !g.begun {
		if err := s.growCall(g, whole); err != nil {
			return err
		}
	}
	if name := o.value("name"); name != "" {
		if name.Text() != g.call.Name && !strings.HasSuffix(g.call.Name, name.Text()) {
			return errors.New("the name of a call comes in two versions")
		}
		s.step.Places = append(s.step.Places, Place{g.call, name})
	}
	return nil
}

// itemStage is the stage in which an item of Responses comes.
type itemStage uint8

const (
	itemAdded    itemStage = iota // it will grow
	itemDone                      // it is whole
	itemRepeated                  // it is whole, and repeated in the list of all items
)

// readItem reads an item of a reply of Responses.
func (s *Stream) readItem(at string, item *object, stage itemStage) error {
	c, is, err := readItemCall(item)
	switch {
	case err != nil:
		return err
	case !is:
		kind := item.text("type")
		switch member := hostedItems[kind]; {
		case member != "" && stage != itemAdded:
			s.step.Hosted = append(s.step.Hosted, Result{ID: item.text("id"), Name: kind, Content: item.value(member), Hosted: true})
		case member == "" && kind != "message" && !plainItems[kind]:
			s.noteUnread(kind)
		}
		return nil
	case stage == itemAdded:
		if s.findOpen(at) != nil {
			return fmt.Errorf("item %s begins twice", shorten(at))
		}
		_, err := s.openCall(at, c, item.value("name"))
		return err
	case stage == itemRepeated:
		for _, known := range s.all {
			if !known.repeated && known.call.isSame(&c) && known.call.ID == c.ID {
				known.repeated = true
				s.step.Places = append(s.step.Places, Place{known.call, item.value("name")})
				return nil
			}
		}
	}
	g := s.findOpen(at)
	if g == nil {
		if err := s.addWhole(at, c, item.value("name")); err != nil {
			return err
		}
		s.all[len(s.all)-1].repeated = stage == itemRepeated
		return nil
	}
	pieces := g.joined(Call{ID: c.ID, Name: c.Name, Free: c.Free, Fixed: c.Fixed, Args: c.Args})
	if g.call.Name != c.Name || g.call.ID != c.ID || g.begun && !pieces.isSame(&c) {
		return errors.New("a call comes in two versions")
	}
	*g.call, g.done = c, true
	s.step.Places = append(s.step.Places, Place{g.call, item.value("name")})
	s.closeCall(g)
	return nil
}

// readOutput reads the items that a reply of Responses repeats at its end.
func (s *Stream) readOutput(r *object) error {
	for _, g := range s.all {
		g.repeated = false
	}
	n := 0
	err := visitObjects(r.value("output"), func(item *object) error {
		n++
		return s.readItem("whole "+strconv.Itoa(n), item, itemRepeated)
	})
	s.closeAll()
	return err
}

// readChatChunk reads a chunk, or a whole reply, of Chat Completions.
func (s *Stream) readChatChunk(o *object) error {
	n := -1
	return visitObjects(o.value("choices"), func(choice *object) error {
		n++
		at := strconv.Itoa(n)
		if v := choice.value("index"); v != "" {
			at = string(v)
			if err := checkIndex(at); err != nil {
				return err
			}
		}
		for _, name := range []string{"delta", "message"} {
			m, err := choice.object(name)
			if err != nil {
				return err
			}
			if err := visitChatCalls(&m, func(c *chatCall) error {
				if at != "0" || s.choices[at] { // clients read the first choice, to its end
					return fmt.Errorf("a call comes in choice %s, or after its end", at)
				}
				if name == "delta" {
					if err := checkPiece(o, choice, &m, c); err != nil {
						return err
					}
				}
				return s.readChatCall(fmt.Sprintf("%s %d", at, c.index), c)
			}); err != nil {
				return err
			}
		}
		if choice.value("finish_reason") == "" {
			return nil
		}
		s.choices[at] = true
		for i := 0; i < len(s.open); {
			if g := s.open[i]; strings.HasPrefix(g.at, at+" ") {
				s.closeCall(g)
			} else {
				i++
			}
		}
		return nil
	})
}

// readChatCall reads a piece of a call.
func (s *Stream) readChatCall(at string, c *chatCall) error {
	if c.index >= 0 {
		s.numbered, s.unnumbered = s.numbered || c.numbered, s.unnumbered || !c.numbered
	}
	g := s.findOpen(at)
	if g != nil && s.unnumbered && !s.numbered && c.Name != "" && c.ID != "" && g.call.ID != "" && c.ID != g.call.ID && g.isWhole() {
		s.closeCall(g) // a service that sends no numbers begins its next call
		g = nil
	}
	switch {
	case s.unnumbered && (s.numbered || g != nil && s.begun > 1): // clients drop such a piece, or guess
		return errors.New("a piece of a call has no number")
	case g == nil && strings.TrimSpace(c.Name) == "":
		return errors.New("a call has no name")
	case g == nil:
		var err error
		if g, err = s.openCall(at, c.Call, c.place); err != nil {
			return err
		}
	case c.Name != "" && c.Name != g.call.Name, c.ID != "" && g.call.ID != "" && c.ID != g.call.ID:
		return errors.New("a call comes in two versions")
	case c.Name != "":
		return errors.New("the name of a call comes twice")
	case c.Free != g.call.Free && c.args != "":
		return errors.New("a call is a function and a custom tool")
	case g.call.ID == "" && c.ID != "":
		if s.ids[c.ID] {
			return fmt.Errorf("two calls have the id %s", shorten(c.ID))
		}
		s.ids[c.ID] = true
		g.call.ID = c.ID
	}
	if c.args.Kind() == jsonscan.Object { // some services send it whole, as an object
		return s.growCall(g, jsonscan.ValueOf(escape.QuoteText(string(c.args))))
	}
	return s.growCall(g, c.args)
}

// readCandidates reads a reply of Gemini, or an event of one.
func (s *Stream) readCandidates(o *object) error {
	if inner := o.value("response"); inner != "" { // Code Assist wraps the reply
		if o.value("candidates") != "" {
			return errors.New("it has a reply in two places")
		}
		wrapped, err := readObject(inner)
		if err != nil {
			return err
		}
		o = &wrapped
	}
	return visitObjects(o.value("candidates"), func(c *object) error {
		content, err := c.object("content")
		if err != nil {
			return err
		}
		if found := c.value("groundingMetadata"); found != "" {
			s.step.Hosted = append(s.step.Hosted, Result{Name: "groundingMetadata", Content: found, Hosted: true})
		}
		return visitObjects(content.value("parts"), func(p *object) error {
			for i, name := range p.names {
				switch v := p.values[i]; name {
				case "functionCall", "function_call":
					c, place, err := readGeminiCall(v)
					if err != nil {
						return err
					}
					if err := s.addWhole("", c, place); err != nil {
						return err
					}
				case "codeExecutionResult", "code_execution_result":
					s.step.Hosted = append(s.step.Hosted, Result{Name: name, Content: v, Hosted: true})
				}
			}
			return nil
		})
	})
}
