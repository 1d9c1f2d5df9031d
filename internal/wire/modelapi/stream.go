package modelapi

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Place is where a reply names the tool of a call.
type Place struct {
	Call *Call
	Name jsonscan.Value // a part of the event, or of the body
}

// Step is what an event of a stream, or a whole reply, brings.
type Step struct {
	Calls  []*Call  // complete with this event; their arguments are known
	Places []Place  // the names of calls in this event, also of calls that were complete before
	Hold   bool     // a call has begun and is not complete
	Hosted []Result // what came of tools that the service ran
	Unread []string // kinds of parts of which this package does not know what they hold
}

// Stream reads the events of one streamed reply, in their order. The zero value is not valid.
type Stream struct {
	api  API
	open []*growing
	all  []*growing // Responses: the calls so far, because later events hold them again
	held int        // bytes of arguments of the open calls
	step Step

	blocks int             // Messages: how many have begun
	others map[string]bool // Messages: the open blocks that are no call for the client
	ended  map[string]bool // Chat: the choices that have ended
}

// growing is a call of which not all is known.
type growing struct {
	call  *Call
	at    string // its place in the reply
	text  strings.Builder
	begun bool // some of the arguments came in pieces
}

// NewStream returns the reader of a reply in the form of an API.
func NewStream(api API) *Stream {
	return &Stream{api: api, others: map[string]bool{}, ended: map[string]bool{}}
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
		s.closeAll()
		return s.finishStep(), nil
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
	return s.finishStep(), err
}

// checkName compares an event's name with its type. A client that goes by the name would drop another
// event than this package, and join other pieces.
func (s *Stream) checkName(name string, v jsonscan.Value) error {
	kind := v.Member("type").Text()
	if s.api == Messages && name != kind || s.api == Responses && name != "" && name != kind {
		return fmt.Errorf("an event is called %q and has the type %q", shorten(name), shorten(kind))
	}
	return nil
}

// Finish returns the calls that were not complete when the stream ended.
func (s *Stream) Finish() Step {
	s.step = Step{}
	s.closeAll()
	return s.finishStep()
}

func (s *Stream) finishStep() Step {
	s.step.Hold = len(s.open) > 0
	return s.step
}

func (s *Stream) readValue(v jsonscan.Value) error {
	if s.api == Gemini && v.Kind() == jsonscan.Array { // as it comes without alt=sse
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
		err = s.readBlocks(o.value("content"))
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

// openCall opens a call.
func (s *Stream) openCall(at string, c Call, place jsonscan.Value) *growing {
	g := &growing{call: &c, at: at}
	s.open = append(s.open, g)
	s.step.Places = append(s.step.Places, Place{g.call, place})
	return g
}

func (s *Stream) findOpen(at string) *growing {
	for _, g := range s.open {
		if g.at == at {
			return g
		}
	}
	return nil
}

// growCall adds a piece of the arguments.
func (s *Stream) growCall(g *growing, piece string) {
	g.begun = true
	g.text.WriteString(piece)
	s.held += len(piece)
}

// closeCall closes a call.
func (s *Stream) closeCall(g *growing) {
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
			g.call.Args, g.call.Bad = parseArguments(g.text.String())
		}
	}
	if s.api == Chat {
		g.call.Text = g.text.String()
		*g.call = g.call.withArguments()
	}
	s.held -= g.text.Len()
	s.step.Calls = append(s.step.Calls, g.call)
	if s.api == Responses {
		s.all = append(s.all, g)
	}
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
		err = s.readBlocks(m.value("content"))
		s.blocks = len(s.step.Calls)
		return err
	case "content_block_start":
		b, err := o.object("content_block")
		if err != nil {
			return err
		}
		if s.findOpen(at) != nil || s.others[at] {
			return fmt.Errorf("block %s begins twice", at)
		}
		g, err := s.beginBlock(at, &b)
		s.others[at] = g == nil
		if g != nil && at != strconv.Itoa(s.blocks) { // clients count the blocks, or go by the index
			return fmt.Errorf("block %s is the one with the number %d", at, s.blocks)
		}
		s.blocks++
		return err
	case "content_block_delta":
		d, err := o.object("delta")
		if err != nil || d.text("type") != "input_json_delta" {
			return err
		}
		g := s.findOpen(at)
		switch {
		case g != nil:
			s.growCall(g, d.text("partial_json"))
		case !s.others[at]:
			return fmt.Errorf("arguments come for block %s, which is not a call", at)
		}
	case "content_block_stop":
		delete(s.others, at)
		if g := s.findOpen(at); g != nil {
			s.closeCall(g)
		}
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
func (s *Stream) beginBlock(at string, b *object) (*growing, error) {
	kind := b.text("type")
	switch {
	case kind == "tool_use":
		if b.text("name") == "" {
			return nil, errors.New("a call has no name")
		}
		return s.openCall(at, Call{ID: b.text("id"), Name: b.text("name"), Args: b.value("input").Bytes()}, b.value("name")), nil
	case strings.HasSuffix(kind, "_tool_result"):
		s.step.Hosted = append(s.step.Hosted, Result{ID: b.text("tool_use_id"), Name: kind, Content: b.value("content"), Hosted: true})
	case kind != "text" && !plainBlocks[kind]:
		s.noteUnread(kind)
	}
	return nil, nil
}

// readBlocks reads blocks that came whole.
func (s *Stream) readBlocks(v jsonscan.Value) error {
	n := 0
	return visitObjects(v, func(b *object) error {
		n++
		g, err := s.beginBlock("whole "+strconv.Itoa(n), b)
		if g != nil {
			s.closeCall(g)
		}
		return err
	})
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
		return s.readItem(at, &item, strings.HasSuffix(kind, ".done"))
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		if g := s.findOpen(at); g != nil {
			s.growCall(g, o.text("delta"))
			return nil
		}
		return fmt.Errorf("arguments come for %s, which is not a call", shorten(at))
	case "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		return s.checkDone(at, o.value("arguments"), o.value("input"), o)
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		r, err := o.object("response")
		if err != nil {
			return err
		}
		return s.readOutput(&r)
	}
	return nil
}

// checkDone compares the arguments that an event repeats with the pieces that came.
func (s *Stream) checkDone(at string, args, input jsonscan.Value, o *object) error {
	g := s.findOpen(at)
	if g == nil {
		return fmt.Errorf("arguments end for %s, which is not a call", shorten(at))
	}
	whole := args.Text() + input.Text()
	if g.begun && g.text.String() != whole {
		return errors.New("the arguments of a call come in two versions")
	}
	if !g.begun {
		s.growCall(g, whole)
	}
	if name := o.value("name"); name != "" {
		if name.Text() != g.call.Name && !strings.HasSuffix(g.call.Name, name.Text()) {
			return errors.New("the name of a call comes in two versions")
		}
		s.step.Places = append(s.step.Places, Place{g.call, name})
	}
	return nil
}

// readItem reads an item of a reply of Responses. whole means that it will not grow.
func (s *Stream) readItem(at string, item *object, whole bool) error {
	c, is, err := readItemCall(item)
	switch {
	case err != nil:
		return err
	case !is:
		kind := item.text("type")
		switch member := hostedItems[kind]; {
		case member != "" && whole:
			s.step.Hosted = append(s.step.Hosted, Result{ID: item.text("id"), Name: kind, Content: item.value(member), Hosted: true})
		case member == "" && kind != "message" && !plainItems[kind]:
			s.noteUnread(kind)
		}
		return nil
	case !whole:
		if s.findOpen(at) != nil {
			return fmt.Errorf("item %s begins twice", shorten(at))
		}
		s.openCall(at, c, item.value("name"))
		return nil
	}
	for _, known := range s.all {
		if known.call.isSame(&c) && known.call.ID == c.ID {
			s.step.Places = append(s.step.Places, Place{known.call, item.value("name")})
			return nil
		}
	}
	g := s.findOpen(at)
	if g == nil {
		s.closeCall(s.openCall(at, c, item.value("name")))
		return nil
	}
	pieces := Call{ID: c.ID, Name: c.Name, Free: c.Free, Fixed: c.Fixed, Args: c.Args}
	if c.Free {
		pieces.Text = g.text.String()
	} else if !c.Fixed {
		pieces.Args, pieces.Bad = parseArguments(g.text.String())
	}
	if g.call.Name != c.Name || g.call.ID != c.ID || g.begun && !pieces.isSame(&c) {
		return errors.New("a call comes in two versions")
	}
	*g.call = c
	s.step.Places = append(s.step.Places, Place{g.call, item.value("name")})
	s.closeCall(g)
	return nil
}

// readOutput reads the items that a reply of Responses repeats at its end.
func (s *Stream) readOutput(r *object) error {
	n := 0
	err := visitObjects(r.value("output"), func(item *object) error {
		n++
		return s.readItem("whole "+strconv.Itoa(n), item, true)
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
			if err := visitChatCalls(&m, func(index int, c Call, place jsonscan.Value) error {
				if at != "0" || s.ended[at] { // clients read the first choice, to its end
					return fmt.Errorf("a call comes in choice %s, or after its end", at)
				}
				return s.readChatCall(fmt.Sprintf("%s %d", at, index), c, place)
			}); err != nil {
				return err
			}
		}
		if choice.value("finish_reason") == "" {
			return nil
		}
		s.ended[at] = true
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
func (s *Stream) readChatCall(at string, c Call, place jsonscan.Value) error {
	g := s.findOpen(at)
	switch {
	case g == nil && c.Name == "":
		return errors.New("a call has no name")
	case g == nil:
		first := c
		first.Text = ""
		g = s.openCall(at, first, place)
	case c.Name != "" && place != "" && c.Name != g.call.Name, c.ID != "" && g.call.ID != "" && c.ID != g.call.ID:
		return errors.New("a call comes in two versions")
	case c.Name != "":
		return errors.New("the name of a call comes twice")
	case g.call.ID == "":
		g.call.ID = c.ID
	}
	s.growCall(g, c.Text)
	return nil
}

// readCandidates reads a reply of Gemini, or an event of one.
func (s *Stream) readCandidates(o *object) error {
	if inner := o.value("response"); inner != "" { // as Code Assist wraps it
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
					s.closeCall(s.openCall("", c, place))
				case "codeExecutionResult", "code_execution_result":
					s.step.Hosted = append(s.step.Hosted, Result{Name: name, Content: v, Hosted: true})
				}
			}
			return nil
		})
	})
}
