package modelapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Request is what a request to a model holds of a conversation, in its order.
type Request struct {
	Calls   []Asked
	Results []Result
	// Words are the values beside results that say something to the model and are not its own: what the user
	// has written, what the client adds, documents and pictures.
	Words  []jsonscan.Value
	Unread []string // kinds of parts of which this package does not know what they hold
	Offers []Offer
	Tools  jsonscan.Value // the list of tools
}

// Asked is a call that a model has asked for before, or that its service has run.
type Asked struct {
	Call
	Place   jsonscan.Value // the name; "" where there is none
	IDPlace jsonscan.Value // the id; some clients make one of the name
}

// Result is what a client, or the service itself, answers to a call.
type Result struct {
	ID   string // of the call; "" where the client gives none
	Name string // of the tool, where the result names it
	// Place is the name of the tool in the result; "" where it does not name it. Content is what
	// the model reads.
	Place, Content jsonscan.Value
	IDPlace        jsonscan.Value
	// Hosted means that the service ran the tool; Name is then the kind of the part.
	Hosted bool
}

// ReadRequest reads a request. Places are parts of body.
func ReadRequest(api API, body []byte) (r Request, err error) {
	root, err := readDocument(body)
	if err != nil {
		return r, err
	}
	if inner := root.value("request"); api == Gemini && inner != "" && root.value("contents") == "" { // as Code Assist wraps it
		if root, err = readObject(inner); err != nil {
			return r, err
		}
	}
	if err := r.readOffers(api, &root); err != nil {
		return r, fmt.Errorf("its tools: %w", err)
	}
	for _, name := range []string{"system", "instructions", "systemInstruction", "system_instruction"} {
		r.addWords(root.value(name))
	}
	member := map[API]string{Messages: "messages", Responses: "input", Chat: "messages", Gemini: "contents"}[api]
	conversation := root.value(member)
	if conversation == "" {
		return r, fmt.Errorf("it has no %s", member)
	}
	switch api {
	case Messages:
		err = visitObjects(conversation, r.readMessage)
	case Responses:
		if conversation.Kind() == jsonscan.String {
			r.addWords(conversation)
		} else {
			err = visitObjects(conversation, r.readItem)
		}
	case Chat:
		err = visitObjects(conversation, r.readChatMessage)
	case Gemini:
		err = visitObjects(conversation, r.readContent)
	case NoAPI:
	}
	return r, err
}

func (r *Request) noteUnread(kind string) {
	for _, known := range r.Unread {
		if known == kind {
			return
		}
	}
	if len(r.Unread) < 16 {
		r.Unread = append(r.Unread, shorten(kind))
	}
}

// addWords adds the values of a content: a text, or those in the parts of a list.
func (r *Request) addWords(content jsonscan.Value) {
	switch content.Kind() {
	case jsonscan.String:
		r.Words = append(r.Words, content)
	case jsonscan.Array:
		for part := range content.Elements() {
			r.addWords(part)
		}
	case jsonscan.Object:
		for name, value := range content.Members() {
			r.addMember(name.Text(), value)
		}
	default: // it says nothing
	}
}

// addMember is addWords for a member. Some name a thing and say nothing, and where a client wants a cache to
// end changes from request to request.
func (r *Request) addMember(name string, value jsonscan.Value) {
	switch name {
	case "type", "role", "id", "status", "cache_control":
	case "source", "image_url", "inlineData", "inline_data": // a picture or a document is one value
		r.Words = append(r.Words, value)
	default:
		r.addWords(value)
	}
}

func (r *Request) addCall(c Call, place jsonscan.Value) {
	r.Calls = append(r.Calls, Asked{Call: c, Place: place})
}

// readMessage reads a message of Messages.
func (r *Request) readMessage(o *object) error {
	user := o.text("role") != "assistant"
	content := o.value("content")
	if content.Kind() == jsonscan.String {
		if user {
			r.addWords(content)
		}
		return nil
	}
	return visitObjects(content, func(b *object) error {
		kind := b.text("type")
		switch {
		case kind == "tool_use":
			r.addCall(Call{ID: b.text("id"), Name: b.text("name"), Args: b.value("input").Bytes()}, b.value("name"))
		case kind == "tool_result":
			r.Results = append(r.Results, Result{ID: b.text("tool_use_id"), Content: b.value("content")})
		case strings.HasSuffix(kind, "_tool_result"):
			r.Results = append(r.Results, Result{ID: b.text("tool_use_id"), Name: kind, Content: b.value("content"), Hosted: true})
		default:
			if kind != "text" && !plainBlocks[kind] {
				r.noteUnread(kind)
			}
			if user {
				r.addMembers(b)
			}
		}
		return nil
	})
}

// addMembers is addWords for an object whose members were read.
func (r *Request) addMembers(o *object) {
	for i, name := range o.names {
		r.addMember(name, o.values[i])
	}
}

// plainBlocks are the blocks of Messages that hold no result of a tool.
var plainBlocks = map[string]bool{
	"thinking": true, "redacted_thinking": true, "server_tool_use": true, "mcp_tool_use": true,
	"image": true, "document": true, "search_result": true, "container_upload": true, "compaction": true, "fallback": true, "tool_reference": true,
}

// readItem reads an item of Responses.
func (r *Request) readItem(o *object) error {
	kind := o.text("type")
	if c, is, err := readItemCall(o); is || err != nil {
		r.addCall(c, o.value("name"))
		return err
	}
	switch {
	case kind == "" || kind == "message":
		if o.text("role") != "assistant" {
			r.addWords(o.value("content"))
		}
	case strings.HasSuffix(kind, "_call_output"):
		r.Results = append(r.Results, Result{ID: o.text("call_id"), Content: o.value("output")})
	case hostedItems[kind] != "":
		r.Results = append(r.Results, Result{ID: o.text("id"), Name: kind, Content: o.value(hostedItems[kind]), Hosted: true})
	case !plainItems[kind]:
		r.noteUnread(kind)
		r.addMembers(o)
	}
	return nil
}

// plainItems are the items of Responses that hold no result of a tool.
var plainItems = map[string]bool{"reasoning": true, "item_reference": true, "compaction": true, "compaction_trigger": true, "compaction_summary": true,
	"mcp_list_tools": true, "mcp_approval_request": true, "mcp_approval_response": true, "additional_tools": true, "tool_search_call": true, "tool_search_output": true}

// hostedItems are the items of tools that the service of Responses runs by itself, with the member
// that holds what came of it.
var hostedItems = map[string]string{
	"web_search_call": "results", "file_search_call": "results", "code_interpreter_call": "outputs", "image_generation_call": "result", "mcp_call": "output",
}

// fixedItems are the calls of Responses whose kind names the tool, with the member that holds the
// arguments.
var fixedItems = map[string]string{"local_shell_call": "action", "shell_call": "action", "apply_patch_call": "operation", "computer_call": "action"}

// readItemCall reads an item of Responses that is a call for the client.
func readItemCall(o *object) (c Call, is bool, err error) {
	kind := o.text("type")
	c = Call{ID: o.text("call_id"), Name: o.text("name")}
	if err := o.checkTexts("type"); err != nil {
		return c, false, err
	}
	switch {
	case kind == "function_call":
		if space := o.text("namespace"); space != "" {
			c.Name = joinSpace(space, c.Name)
		}
		c.Args, c.Bad = readArguments(o.value("arguments"))
	case kind == "custom_tool_call":
		c.Free, c.Text = true, o.text("input")
	case fixedItems[kind] != "":
		c.Name, c.Fixed, c.Args = strings.TrimSuffix(kind, "_call"), true, o.value(fixedItems[kind]).Bytes()
	default:
		return c, false, nil
	}
	if c.Name == "" {
		return c, true, fmt.Errorf("a %s has no name", kind)
	}
	return c, true, o.checkTexts("call_id", "name", "namespace", "input")
}

// joinSpace returns the name of a tool in a namespace, as a client's hook sees it.
func joinSpace(space, name string) string {
	if strings.HasPrefix(space, "mcp__") {
		return strings.TrimSuffix(space, "__") + "__" + name
	}
	return space + "." + name
}

// readArguments reads arguments that are JSON in a string.
func readArguments(v jsonscan.Value) (args []byte, bad string) {
	switch v.Kind() {
	case jsonscan.Object:
		return v.Bytes(), ""
	case jsonscan.String, jsonscan.Absent:
		return parseArguments(v.Text())
	}
	return nil, "its arguments are " + nounOf(v)
}

func parseArguments(text string) (args []byte, bad string) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, ""
	}
	v, err := parseDocument([]byte(text))
	switch {
	case err != nil:
		return nil, "its arguments cannot be read: " + err.Error()
	case v.Kind() != jsonscan.Object:
		return nil, "its arguments are " + nounOf(v) + " and should be an object"
	}
	return []byte(text), ""
}

// readChatMessage reads a message of Chat Completions.
func (r *Request) readChatMessage(o *object) error {
	switch role := o.text("role"); role {
	case "user", "system", "developer":
		r.addWords(o.value("content"))
	case "tool", "function":
		r.Results = append(r.Results, Result{ID: o.text("tool_call_id"), Name: o.text("name"), Place: o.value("name"), Content: o.value("content")})
	case "assistant":
		return visitChatCalls(o, func(c *chatCall) error {
			c.Text = textOrObject(c.args)
			r.addCall(c.withArguments(), c.place)
			return nil
		})
	default:
		r.noteUnread(role)
		r.addMembers(o)
	}
	return nil
}

// chatCall is a call of Chat Completions, or a piece of one.
type chatCall struct {
	Call
	index    int
	numbered bool           // the service gives the index
	args     jsonscan.Value // what came of the arguments, or of the text: a string, or with some services an object
	place    jsonscan.Value // the name
}

// visitChatCalls visits the calls of a message of Chat Completions, or of a part of one.
func visitChatCalls(o *object, visit func(c *chatCall) error) error {
	n := -1
	err := visitObjects(o.value("tool_calls"), func(one *object) error {
		n++
		c := chatCall{index: n}
		if v := one.value("index"); v != "" {
			if err := checkIndex(string(v)); err != nil {
				return err
			}
			c.numbered = true
			c.index, _ = strconv.Atoi(string(v))
		}
		member, args := "function", "arguments"
		if one.value("custom") != "" {
			if one.value("function") != "" {
				return errors.New("a call is a function and a custom tool")
			}
			member, args, c.Free = "custom", "input", true
		}
		if err := one.checkTexts("id", "type"); err != nil {
			return err
		}
		c.ID = one.text("id")
		if kind := one.text("type"); kind != "" && kind != member {
			return fmt.Errorf("a call of the kind %s is a %s", shorten(kind), member)
		}
		extra, err := one.object("extra_content")
		if err != nil {
			return err
		}
		if google, err := extra.object("google"); err != nil || google.checkTexts("thought_signature") != nil {
			return errors.New("a call comes with something else")
		}
		return c.readFunction(one.value(member), args, visit)
	})
	if old := o.value("function_call"); err == nil && old != "" {
		c := chatCall{index: -1, numbered: true}
		return c.readFunction(old, "arguments", visit)
	}
	return err
}

// readFunction reads the name and the arguments of a call, and visits it.
func (c *chatCall) readFunction(v jsonscan.Value, args string, visit func(c *chatCall) error) error {
	if v == "" {
		return visit(c)
	}
	fn, err := readObject(v)
	if err == nil {
		err = fn.checkTexts("name")
	}
	if c.args = fn.value(args); err == nil && (c.Free || c.args.Kind() != jsonscan.Object) {
		err = fn.checkTexts(args)
	}
	if err != nil {
		return err
	}
	c.Name, c.place = fn.text("name"), fn.value("name")
	return visit(c)
}

// textOrObject returns a text, or an object as its text.
func textOrObject(v jsonscan.Value) string {
	if v.Kind() == jsonscan.Object {
		return string(v)
	}
	return v.Text()
}

// withArguments returns a call whose text was the JSON of its arguments.
func (c Call) withArguments() Call {
	if !c.Free {
		c.Args, c.Bad = parseArguments(c.Text)
		c.Text = ""
	}
	return c
}

// readContent reads a content of Gemini.
func (r *Request) readContent(o *object) error {
	user := o.text("role") != "model"
	return visitObjects(o.value("parts"), func(p *object) error {
		for i, name := range p.names {
			v := p.values[i]
			switch name {
			case "text":
				if user {
					r.addWords(v)
				}
			case "functionCall", "function_call":
				c, place, err := readGeminiCall(v)
				if err != nil {
					return err
				}
				r.Calls = append(r.Calls, Asked{Call: c, Place: place, IDPlace: v.Member("id")})
			case "functionResponse", "function_response":
				f, err := readObject(v)
				if err != nil {
					return err
				}
				r.Results = append(r.Results, Result{ID: f.text("id"), Name: f.text("name"), Place: f.value("name"), Content: f.value("response"), IDPlace: f.value("id")})
				r.addWords(f.value("parts")) // pictures
			case "codeExecutionResult", "code_execution_result":
				r.Results = append(r.Results, Result{Name: name, Content: v, Hosted: true})
			case "thought", "thoughtSignature", "thought_signature", "inlineData", "inline_data", "fileData", "file_data", "executableCode", "executable_code", "videoMetadata":
				if user {
					r.addMember(name, v)
				}
			default:
				r.noteUnread(name)
				r.addMember(name, v)
			}
		}
		return nil
	})
}

// readGeminiCall reads a functionCall.
func readGeminiCall(v jsonscan.Value) (c Call, name jsonscan.Value, err error) {
	f, err := readObject(v)
	if err != nil {
		return c, "", err
	}
	if f.firstOf("partialArgs", "partial_args", "willContinue", "will_continue") != "" {
		return c, "", fmt.Errorf("a call comes in pieces")
	}
	if f.text("name") == "" {
		return c, "", fmt.Errorf("a call has no name")
	}
	return Call{ID: f.text("id"), Name: f.text("name"), Args: f.value("args").Bytes()}, f.value("name"), nil
}
