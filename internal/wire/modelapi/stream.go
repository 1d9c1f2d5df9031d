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

// Place is a position in a reply where the tool of a call is named.
type Place struct {
	Call *Call
	Name jsonscan.Value // the name, as a part of the event or of the body
}

// Step holds the new parts in one event of a stream, or all parts of a whole reply.
type Step struct {
	Calls  []*Call  // calls that this event completes; their arguments are known
	Places []Place  // names of calls in this event, even of calls that were complete before
	Hold   bool     // a call has begun and is not complete yet
	Hosted []Result // results of tools that the service ran
	Unread []string // kinds of parts that have content but that this package does not know
}

// Stream reads the events of one streamed reply in their order. NewStream makes a valid Stream.
type Stream struct {
	api  API
	open []*partialCall
	all  []*partialCall // Responses: the complete calls so far, because later events repeat them
	held int            // bytes of arguments in the open calls
	step Step

	parts      int             // number of parts that have begun: blocks of Messages or items of Responses
	misplaced  bool            // Messages, Responses: a part has a number that is not its position
	numbered   bool            // Chat: a piece of a call has come with a number
	unnumbered bool            // Chat: a piece of a call has come without a number
	others     map[string]bool // Messages: the open blocks that are not calls for the client
	choices    map[string]bool // Chat: the choices that have ended
	ids        map[string]bool // ids of the calls that have begun
	begun      int             // number of calls that have begun
	over       bool            // the end mark of the stream has come
}

// partialCall is a call whose parts are still coming.
type partialCall struct {
	call     *Call
	at       string          // position of the call in the reply
	pieces   strings.Builder // pieces of the arguments as they are written in the reply
	begun    bool            // at least one piece of the arguments has come
	done     bool            // Responses: the service has sent the complete call
	prefixed bool            // Responses: the arguments did not begin as an empty text
	repeated bool            // Responses: the end of the reply has repeated the call
}

// text returns the joined pieces of the arguments. It decodes them after joining, because a piece
// may end within a character.
func (g *partialCall) text() string { return jsonscan.Value(`"` + g.pieces.String() + `"`).Text() }

// NewStream returns a Stream for a reply of this API.
func NewStream(api API) *Stream {
	return &Stream{api: api, others: map[string]bool{}, choices: map[string]bool{}, ids: map[string]bool{}}
}

// ReadEvent reads one event. name is the event's name, or "". The Places in the result are parts of
// data.
func (s *Stream) ReadEvent(name string, data []byte) (Step, error) {
	s.step = Step{}
	text := bytes.TrimSpace(data)
	if s.api == Chat || s.api == Gemini {
		if name != "" && name != "message" { // some clients drop an event with another name
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
	if s.over { // refused, because some clients have stopped reading and others continue
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

// distrustBatch looks at calls of Chat that become complete with the same event. If one of them is
// unreadable, it marks all of them as unreadable. The reason is that some clients add a piece to
// another call if it does not fit the call that it belongs to.
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

// checkName returns an error if the name of an event differs from its type (Messages, Responses).
// This package uses the type. A client that uses the name would drop other events and join other
// pieces.
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

// Finish returns the calls that are still open at the end of the stream.
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
	if s.api == Gemini && v.Kind() == jsonscan.Array { // Gemini sends an array if the request has no alt=sse
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

// ReadReply reads a whole reply that is not a stream. The Places in the result are parts of body.
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

// openCall adds an open call. It returns an error if another call has the same id, because clients
// would join the pieces of both.
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

// addWhole adds a call that came complete.
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

// growCall adds a piece of the arguments. The piece is a JSON string.
func (s *Stream) growCall(g *partialCall, piece jsonscan.Value) error {
	if piece == "" {
		return nil
	}
	if piece.Kind() != jsonscan.String {
		return fmt.Errorf("a piece of arguments is %s", nounOf(piece))
	}
	if !utf8.ValidString(string(piece)) { // some clients join a character that is cut in two, and others replace both halves
		return errors.New("a piece of arguments is not UTF-8")
	}
	g.begun = true
	g.pieces.WriteString(string(piece[1 : len(piece)-1]))
	s.held += len(piece) - 2
	return nil
}

// closeCall moves a call from the open calls to the complete calls of this step.
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
	if s.api == Responses && g.begun && !g.done { // the end of the call is missing, but a client may still run the call
		*g.call = g.joined(*g.call)
		if g.prefixed {
			g.call.Bad = "its arguments do not begin as an empty text, and some clients put the pieces behind that beginning"
		}
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

// isWhole reports whether the pieces so far are a complete JSON object.
func (g *partialCall) isWhole() bool {
	args, bad := parseArguments(g.text())
	return args != nil && bad == ""
}

// joined returns a call of Responses with the arguments from the pieces.
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

// readMessagesEvent reads one event of the Messages API.
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
		if g != nil && s.misplaced { // refused, because some clients count the blocks and others use the index
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
		} else if !s.others[at] { // refused, because a client may take the block a second time
			return fmt.Errorf("block %s ends and was not open", at)
		}
		delete(s.others, at)
	case "message_stop":
		clear(s.others)
		s.closeAll()
	}
	return nil
}

// checkIndex checks that an index is written in the only form that all clients read alike. A client
// may take "1", 1.0 and 1 for the same index.
func checkIndex(at string) error {
	if n, err := strconv.Atoi(at); err != nil || n < 0 || strconv.Itoa(n) != at {
		return fmt.Errorf("a part of the reply has the place %s", shorten(at))
	}
	return nil
}

// beginBlock opens the call in a block of Messages. It returns nil if the block is no call.
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

// readBlocks reads blocks that came complete. It returns their number.
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

// readResponsesEvent reads one event of the Responses API.
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
		case s.misplaced: // refused, because some clients count the items and others use the index
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
	return visitObjects(r.value("output"), func(item *object) error { // clients add the items of such an event to the reply
		if _, is, err := readItemCall(item); is || err != nil {
			return errors.New("a call comes in an event that is not for calls")
		}
		s.misplaced = true
		return nil
	})
}

// checkDone compares the complete arguments in an event with the pieces that came before.
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

// itemStage tells at which stage an item of Responses comes.
type itemStage uint8

const (
	itemAdded    itemStage = iota // the item is incomplete, and pieces follow
	itemDone                      // the item is complete
	itemRepeated                  // the item is complete and repeated in the list of all items
)

// readItem reads one item in a reply of Responses.
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
		if s.misplaced { // refused, because some clients count the items and others use the index
			return fmt.Errorf("item %s, a call, is not the one with that number", shorten(at))
		}
		g, err := s.openCall(at, c, item.value("name"))
		if err == nil {
			g.prefixed = item.firstOf("arguments", "input") != `""`
		}
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

// readChatChunk reads one chunk of Chat Completions, or a whole reply.
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
				if at != "0" || s.choices[at] { // refused, because clients read only the first choice, up to its end
					return fmt.Errorf("a call comes in choice %s, or after its end", at)
				}
				if c.streamed = name == "delta"; c.streamed {
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

// readChatCall reads a piece of a call of Chat.
func (s *Stream) readChatCall(at string, c *chatCall) error {
	if c.index >= 0 {
		s.numbered, s.unnumbered = s.numbered || c.numbered, s.unnumbered || !c.numbered
	}
	g := s.findOpen(at)
	if g != nil && s.unnumbered && !s.numbered && c.Name != "" && c.ID != "" && g.call.ID != "" && c.ID != g.call.ID && g.isWhole() {
		s.closeCall(g) // this piece begins the next call of a service that sends no numbers
		g = nil
	}
	switch {
	case s.unnumbered && (s.numbered || g != nil && s.begun > 1): // refused, because clients drop such a piece or guess its call
		return errors.New("a piece of a call has no number")
	case g == nil && strings.TrimSpace(c.Name) == "":
		return errors.New("a call has no name")
	case g == nil && c.streamed && !c.numbered && !s.canBeginUnnumbered(c):
		return errors.New("one of several calls has neither a number nor an id, or begins before another one is complete")
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
	if c.args.Kind() == jsonscan.Object { // some services send the arguments complete, as an object
		return s.growCall(g, jsonscan.ValueOf(escape.QuoteText(string(c.args))))
	}
	return s.growCall(g, c.args)
}

// canBeginUnnumbered reports whether all clients read c as a call of its own, though it has no number.
// A client that takes it for number 0 joins it with the call before, unless both have ids and the call
// before is complete.
func (s *Stream) canBeginUnnumbered(c *chatCall) bool {
	for _, g := range s.open {
		if c.ID == "" || g.call.ID == "" || !g.isWhole() {
			return false
		}
	}
	return true
}

// readCandidates reads a reply of Gemini, or one event of it.
func (s *Stream) readCandidates(o *object) error {
	if inner := o.value("response"); inner != "" { // Code Assist puts the reply into another object
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
