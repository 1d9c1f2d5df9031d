package modelapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Request holds the parts of a conversation in a request to a model, in the order of the request.
type Request struct {
	Calls   []Asked
	Results []Result
	// Words are the values outside results that may tell the model something and that the model did
	// not write: texts of the user, additions of the client, documents and pictures. Members that
	// this package does not read are in Words as one object, which this package writes. For each
	// list of texts, Words also has the results of JoinTexts.
	Words  []jsonscan.Value
	Unread []string // kinds of parts that have content but that this package does not know
	Offers []Offer
	Tools  jsonscan.Value // the list of tools
	// Offered means that Offers is complete. It may be true even if the conversation could not be
	// read.
	Offered bool
}

// Asked is a call in an earlier reply. The model asked for it, or the model's service ran it.
type Asked struct {
	Call
	Place   jsonscan.Value // the name in the request's text; "" if there is none
	IDPlace jsonscan.Value // the id in the request's text; some clients derive the id from the name
}

// Result is the answer to a call, from the client or from the service itself.
type Result struct {
	ID   string // id of the call; "" if the result has none
	Name string // name of the tool; "" if the result has none
	// Place is the tool's name in the result's text, or "". Content is the part that the model
	// reads.
	Place, Content jsonscan.Value
	IDPlace        jsonscan.Value
	// Hosted means that the service ran the tool. Then Name is the kind of the part.
	Hosted bool
}

// ReadRequest reads a request. The Places in the result are parts of body.
func ReadRequest(api API, body []byte) (r Request, err error) {
	root, err := readDocument(body)
	if err != nil {
		return r, err
	}
	if inner := root.value("request"); api == Gemini && inner != "" && root.value("contents") == "" { // Code Assist puts the request into another object
		r.addRest(&root, "request")
		if root, err = readObject(inner); err != nil {
			return r, err
		}
	}
	if err := r.readOffers(api, &root); err != nil {
		return r, fmt.Errorf("its tools: %w", err)
	}
	r.Offered = true
	for _, name := range []string{"system", "instructions"} {
		r.addWords(root.value(name))
	}
	for _, name := range []string{"systemInstruction", "system_instruction"} {
		r.addContent(root.value(name))
	}
	member := map[API]string{Messages: "messages", Responses: "input", Chat: "messages", Gemini: "contents"}[api]
	conversation := root.value(member)
	if conversation == "" {
		return r, fmt.Errorf("it has no %s", member)
	}
	r.addRest(&root, member, "tools", "system", "instructions", "systemInstruction", "system_instruction")
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

// addWords adds the values of a content: a text, or the parts in a list.
func (r *Request) addWords(content jsonscan.Value) {
	switch content.Kind() {
	case jsonscan.String, jsonscan.Number:
		r.Words = append(r.Words, content)
	case jsonscan.Array:
		from := len(r.Words)
		for part := range content.Elements() {
			r.addWords(part)
		}
		r.Words = append(r.Words, JoinTexts(r.Words[from:])...)
	case jsonscan.Object:
		o, err := readObject(content)
		if err != nil { // added unread, because code that reads it will find the same error
			r.Words = append(r.Words, content)
			return
		}
		r.addPart(&o)
	default: // other values tell the model nothing
	}
}

// maxSeam is how many bytes from each of two neighbouring texts are joined. No secret with a known
// form is longer than two such parts.
const maxSeam = 256

// JoinTexts joins the neighbouring texts in a list, because a secret that is cut in two is in
// neither text as a whole. It does not use the middle of a long text. It joins only the beginning
// of such a text to the texts before it, and only the end to the texts after it.
func JoinTexts(list []jsonscan.Value) (seams []jsonscan.Value) {
	var b strings.Builder
	texts := 0
	end := func() {
		if texts > 1 {
			seams = append(seams, jsonscan.Value(escape.QuoteText(strings.ToValidUTF8(b.String(), ""))))
		}
		b.Reset()
		texts = 0
	}
	for _, v := range list {
		if v.Kind() != jsonscan.String || v.Text() == "" {
			continue
		}
		text := v.Text()
		if texts++; len(text) <= 2*maxSeam {
			b.WriteString(text)
			continue
		}
		b.WriteString(text[:maxSeam])
		end()
		b.WriteString(text[len(text)-maxSeam:])
		texts = 1
	}
	end()
	return seams
}

// addContent adds a content of Gemini that cannot be from the model.
func (r *Request) addContent(content jsonscan.Value) {
	parts := content.Member("parts")
	if o, err := readObject(content); err == nil && parts != "" {
		r.addWords(parts)
		r.addRest(&o, "parts")
		return
	}
	r.addWords(content)
}

// addPart adds a part of a content: its text and its other members.
func (r *Request) addPart(o *object) {
	if text := o.value("text"); text.Kind() == jsonscan.String {
		r.Words = append(r.Words, text)
		r.addRest(o, "text")
		return
	}
	r.addRest(o)
}

// addRest adds all members of an object, as one object. So unknown members are searched too, with
// their names. It leaves out the members with the given names, which other code reads. It also
// leaves out members that only name a kind, and the marks for the end of a cache, because a client
// changes these with each request.
func (r *Request) addRest(o *object, read ...string) {
	var b strings.Builder
	for i, name := range o.names {
		if slices.Contains(read, name) || saysNothing(name, o.values[i]) {
			continue
		}
		b.WriteByte("{,"[min(b.Len(), 1)])
		b.Write(escape.QuoteText(name))
		b.WriteByte(':')
		b.WriteString(string(o.values[i]))
	}
	if b.Len() > 0 {
		b.WriteByte('}')
		r.Words = append(r.Words, jsonscan.Value(b.String()))
	}
}

// saysNothing reports whether a member only names a kind or marks the end of a cache.
func saysNothing(name string, value jsonscan.Value) bool {
	switch name {
	case "type", "role", "status":
		return isKind(value)
	case "cache_control":
		for name, of := range value.Members() {
			if name := name.Text(); name != "type" && name != "ttl" && name != "scope" || !isKind(of) {
				return false
			}
		}
		return value.Kind() == jsonscan.Object
	}
	return value.Kind() == jsonscan.Null
}

// isKind reports whether a value is a short word of small letters, such as the kind of a part. No
// secret has this form.
func isKind(v jsonscan.Value) bool {
	text := v.Text()
	return v.Kind() == jsonscan.String && (len(text) <= 3 || len(text) <= 40 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == "")
}

func (r *Request) addCall(c Call, place jsonscan.Value) {
	r.Calls = append(r.Calls, Asked{Call: c, Place: place})
}

// readMessage reads one message of the Messages API.
func (r *Request) readMessage(o *object) error {
	user := o.text("role") != "assistant"
	if user {
		r.addRest(o, "content")
	}
	content := o.value("content")
	if content.Kind() == jsonscan.String {
		if user {
			r.addWords(content)
		}
		return nil
	}
	from := len(r.Words)
	defer func() { r.Words = append(r.Words, JoinTexts(r.Words[from:])...) }()
	return visitObjects(content, func(b *object) error {
		kind := b.text("type")
		switch {
		case kind == "tool_use":
			r.addCall(Call{ID: b.text("id"), Name: b.text("name"), Args: b.value("input").Bytes()}, b.value("name"))
			if user { // a model did not ask for this call, because the message is from the user
				r.addPart(b)
			}
		case kind == "tool_result":
			r.Results = append(r.Results, Result{ID: b.text("tool_use_id"), Content: b.value("content")})
			r.addRest(b, "tool_use_id", "content", "is_error")
		case strings.HasSuffix(kind, "_tool_result"):
			r.Results = append(r.Results, Result{ID: b.text("tool_use_id"), Name: kind, Content: b.value("content"), Hosted: true})
			if user { // the service did not write this result, because the message is from the user
				r.addPart(b)
			}
		default:
			known := kind == "text" || plainBlocks[kind]
			if !known {
				r.noteUnread(kind)
			}
			if user || !known {
				r.addPart(b)
			}
		}
		return nil
	})
}

// plainBlocks are the blocks of Messages without a tool's result.
var plainBlocks = map[string]bool{
	"thinking": true, "redacted_thinking": true, "server_tool_use": true, "mcp_tool_use": true,
	"image": true, "document": true, "search_result": true, "container_upload": true, "compaction": true, "fallback": true, "tool_reference": true,
}

// readItem reads one item of the Responses API.
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
			r.addRest(o, "content")
		}
	case strings.HasSuffix(kind, "_call_output"):
		r.Results = append(r.Results, Result{ID: o.text("call_id"), Content: o.value("output")})
		r.addRest(o, "call_id", "output")
	case kind == "mcp_approval_response": // read whole, because a person may have given a reason
		r.addRest(o)
	case hostedItems[kind] != "":
		r.Results = append(r.Results, Result{ID: o.text("id"), Name: kind, Content: o.value(hostedItems[kind]), Hosted: true})
	case !plainItems[kind]:
		r.noteUnread(kind)
		r.addPart(o)
	}
	return nil
}

// plainItems are the items of Responses without a tool's result.
var plainItems = map[string]bool{"reasoning": true, "item_reference": true, "compaction": true, "compaction_trigger": true, "compaction_summary": true,
	"mcp_list_tools": true, "mcp_approval_request": true, "mcp_approval_response": true, "additional_tools": true, "tool_search_call": true, "tool_search_output": true}

// hostedItems are the items of tools that the service of Responses itself runs. The value is the
// member with the result.
var hostedItems = map[string]string{
	"web_search_call": "results", "file_search_call": "results", "code_interpreter_call": "outputs", "image_generation_call": "result", "mcp_call": "output",
}

// fixedItems are the calls of Responses whose kind names the tool. The value is the member with the
// arguments.
var fixedItems = map[string]string{"local_shell_call": "action", "shell_call": "action", "apply_patch_call": "operation", "computer_call": "action"}

// readItemCall reads an item of Responses. The second result reports whether the item is a call
// that the client must run.
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

// joinSpace joins a namespace and the name of a tool in the way in which a client's hook sees the
// name.
func joinSpace(space, name string) string {
	if strings.HasPrefix(space, "mcp__") {
		return strings.TrimSuffix(space, "__") + "__" + name
	}
	return space + "." + name
}

// readArguments reads arguments: an object, or JSON in a string.
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

// readChatMessage reads one message of Chat Completions.
func (r *Request) readChatMessage(o *object) error {
	switch role := o.text("role"); role {
	case "user", "system", "developer":
		r.addWords(o.value("content"))
		r.addRest(o, "content")
	case "tool", "function":
		r.Results = append(r.Results, Result{ID: o.text("tool_call_id"), Name: o.text("name"), Place: o.value("name"), Content: o.value("content")})
		r.addRest(o, "tool_call_id", "name", "content")
	case "assistant":
		return visitChatCalls(o, func(c *chatCall) error {
			c.Text = textOrObject(c.args)
			r.addCall(c.withArguments(), c.place)
			return nil
		})
	default:
		r.noteUnread(role)
		r.addWords(o.value("content"))
		r.addRest(o, "content")
	}
	return nil
}

// chatCall is a call of Chat Completions, or a piece of one.
type chatCall struct {
	Call
	index    int
	numbered bool           // the service has sent the index
	streamed bool           // the call comes in a piece of a stream
	args     jsonscan.Value // the arguments or the text, as a string or an object of the service
	place    jsonscan.Value // the name in the message's text
	kind     jsonscan.Value // the type of the tool, as the service sent it; "" if it sent none
}

// visitChatCalls visits the calls in a message of Chat Completions, or in a part of a message.
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
		c.ID, c.kind = one.text("id"), one.value("type")
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

// readFunction reads the name and the arguments of a call and then calls visit.
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

// textOrObject returns the text of a string, or the JSON of an object.
func textOrObject(v jsonscan.Value) string {
	if v.Kind() == jsonscan.Object {
		return string(v)
	}
	return v.Text()
}

// withArguments returns the call with Args parsed from Text, unless the call is Free.
func (c Call) withArguments() Call {
	if !c.Free {
		c.Args, c.Bad = parseArguments(c.Text)
		c.Text = ""
	}
	return c
}

// readContent reads one content of Gemini.
func (r *Request) readContent(o *object) error {
	user := o.text("role") != "model"
	if user {
		r.addRest(o, "parts")
	}
	from := len(r.Words)
	defer func() { r.Words = append(r.Words, JoinTexts(r.Words[from:])...) }()
	return visitObjects(o.value("parts"), func(p *object) error {
		read := []string{"functionResponse", "function_response"}
		for i, name := range p.names {
			v := p.values[i]
			switch name {
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
				r.addWords(f.value("parts")) // the parts of a result are pictures
				r.addRest(&f, "id", "name", "response", "parts")
			case "codeExecutionResult", "code_execution_result":
				r.Results = append(r.Results, Result{Name: name, Content: v, Hosted: true})
			case "text", "thought", "thoughtSignature", "thought_signature", "inlineData", "inline_data", "fileData", "file_data", "executableCode", "executable_code", "videoMetadata":
			default:
				r.noteUnread(name)
				continue
			}
			if !user { // not added to Words, because the model has written it
				read = append(read, name)
			}
		}
		if text := p.value("text"); user && text != "" {
			r.addWords(text)
			read = append(read, "text")
		}
		r.addRest(p, read...)
		return nil
	})
}

// readGeminiCall reads a functionCall of Gemini.
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
