package mcp

import (
	"github.com/clawai/clawai/policy"
	"github.com/tidwall/gjson"
)

// readSampling reads sampling/createMessage: the system prompt, each text in
// each message, and what the model is told of the tools it may use. A request
// without text has the one text "".
func readSampling(fs *fields, c *policy.Call) {
	if system := fs.at[fSystemPrompt]; system.Type == gjson.String {
		push(&c.Names, system.Str)
	} else if system.Exists() && system.Type != gjson.Null {
		c.Malformed = "params.systemPrompt is not a string"
	}
	messages := fs.at[fMessages]
	if !messages.IsArray() {
		c.Malformed = "params.messages is missing or not an array"
	} else {
		messages.ForEach(func(_, message gjson.Result) bool {
			readMessage(message, c, 0)
			return true
		})
	}
	if tools := fs.at[fTools]; tools.IsArray() {
		descriptions(tools, &c.Names)
	}
	if len(c.Names) == 0 {
		push(&c.Names, "")
	}
}

// maxResults bounds how many tool results may lie inside each other. No version
// puts one into another, and each level is walked again.
const maxResults = 2

// readMessage adds the texts of one sampling message, or of a tool result inside
// that many others, whose content is one block or, since 2025-11-25, an array of
// them.
func readMessage(message gjson.Result, c *policy.Call, results int) {
	content := member(message, "content")
	if !content.IsObject() && !content.IsArray() {
		c.Malformed = "a message has no content"
		return
	}
	if content.IsObject() {
		readBlock(content, c, results)
		return
	}
	content.ForEach(func(_, block gjson.Result) bool {
		readBlock(block, c, results)
		return true
	})
}

// readBlock adds the texts of one content block. Pictures and sound have none;
// a block of a kind no version defines gives every string it holds.
func readBlock(block gjson.Result, c *policy.Call, results int) {
	if !block.IsObject() {
		c.Malformed = "a content block that is not an object"
		return
	}
	switch kind := member(block, "type"); kind.Str {
	case "text":
		if text := member(block, "text"); text.Type == gjson.String {
			push(&c.Names, text.Str)
			return
		}
		c.Malformed = "a text block without text"
	case "image", "audio":
	case "tool_use":
		texts(member(block, "input"), &c.Names)
	case "tool_result":
		texts(member(block, "structuredContent"), &c.Names)
		if content := member(block, "content"); !content.IsArray() && !content.IsObject() {
			return
		}
		if results == maxResults {
			c.Malformed = "tool results inside each other"
			return
		}
		readMessage(block, c, results+1)
	case "resource":
		resource := member(block, "resource")
		texts(member(resource, "uri"), &c.Names)
		texts(member(resource, "text"), &c.Names)
	case "resource_link":
		for _, told := range []string{"uri", "name", "title", "description"} {
			texts(member(block, told), &c.Names)
		}
	default:
		texts(block, &c.Names)
	}
}

// readElicitation reads elicitation/create: the message and, in URL mode, the
// URL. A URL counts whatever the mode says.
func readElicitation(fs *fields, c *policy.Call) {
	message, url := fs.at[fMessage], fs.at[fURL]
	if message.Type == gjson.String {
		push(&c.Names, message.Str)
	} else {
		c.Malformed = "params.message is missing or not a string"
	}
	if url.Type == gjson.String {
		push(&c.Names, url.Str)
	} else if url.Exists() {
		c.Malformed = "params.url is not a string"
	}
	if speaksAsUs(message.Str) || anySpeaksAsUs(member(fs.params, "requestedSchema")) {
		c.Malformed = imitates
	}
}

// texts adds every string in v, at any depth.
func texts(v gjson.Result, to *[]string) {
	leaves(v, func(_ string, leaf gjson.Result) {
		if leaf.Type == gjson.String {
			push(to, leaf.Str)
		}
	})
}

// descriptions adds every string that a member named description or title
// holds, at any depth: what a tool's schema tells a model.
func descriptions(v gjson.Result, to *[]string) {
	leaves(v, func(name string, leaf gjson.Result) {
		if leaf.Type == gjson.String && (name == "description" || name == "title") {
			push(to, leaf.Str)
		}
	})
}
