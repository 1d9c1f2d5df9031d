package mcp

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// readSampling reads sampling/createMessage. It adds the system prompt, each text in each message,
// and the texts about the tools that the model may use. A request without text gets the single text
// "".
func readSampling(fs *fields, c *policy.Call) {
	if system := fs.at[fSystemPrompt]; system.Kind() == jsonscan.String {
		appendName(&c.Names, system.Text())
	} else if !isMissing(system) {
		c.Malformed = "params.systemPrompt is not a string"
	}
	messages := fs.at[fMessages]
	if messages.Kind() != jsonscan.Array {
		c.Malformed = "params.messages is missing or not an array"
	}
	for message := range messages.Elements() {
		readMessage(message, c, 0)
	}
	if tools := fs.at[fTools]; tools.Kind() == jsonscan.Array {
		appendTexts(tools, &c.Names, "description", "title") // only the texts in a tool's schema that a model reads
	}
	if len(c.Names) == 0 {
		appendName(&c.Names, "")
	}
}

// maxResults limits the nesting of tool results. No version nests them, and each level is read
// again.
const maxResults = 2

// readMessage adds the texts of one sampling message or of one tool result. results is the nesting
// depth of the tool result, or 0 for a message. The content is one block. Since 2025-11-25 it may
// also be an array of blocks.
func readMessage(message jsonscan.Value, c *policy.Call, results int) {
	content := message.Member("content")
	switch content.Kind() {
	case jsonscan.Object:
		readBlock(content, c, results)
	case jsonscan.Array:
		for block := range content.Elements() {
			readBlock(block, c, results)
		}
	default:
		c.Malformed = "a message has no content"
	}
}

// readBlock adds the texts of one content block. Pictures and sound have no text. For a block of
// unknown kind it adds every string.
func readBlock(block jsonscan.Value, c *policy.Call, results int) {
	if block.Kind() != jsonscan.Object {
		c.Malformed = "a content block that is not an object"
		return
	}
	switch block.Member("type").Text() {
	case "text":
		if text := block.Member("text"); text.Kind() == jsonscan.String {
			appendName(&c.Names, text.Text())
			return
		}
		c.Malformed = "a text block without text"
	case "image", "audio":
	case "tool_use":
		appendTexts(block.Member("input"), &c.Names)
	case "tool_result":
		appendTexts(block.Member("structuredContent"), &c.Names)
		if block.Member("content").Kind() < jsonscan.Array {
			return
		}
		if results == maxResults {
			c.Malformed = "tool results inside each other"
			return
		}
		readMessage(block, c, results+1)
	case "resource":
		resource := block.Member("resource")
		appendTexts(resource.Member("uri"), &c.Names)
		appendTexts(resource.Member("text"), &c.Names)
	case "resource_link":
		for _, member := range []string{"uri", "name", "title", "description"} {
			appendTexts(block.Member(member), &c.Names)
		}
	default:
		appendTexts(block, &c.Names)
	}
}

// readElicitation reads elicitation/create. It adds the message and, in any mode, the URL.
func readElicitation(fs *fields, c *policy.Call) {
	message, url := fs.at[fMessage], fs.at[fURL]
	if message.Kind() == jsonscan.String {
		appendName(&c.Names, message.Text())
	} else {
		c.Malformed = "params.message is missing or not a string"
	}
	if url.Kind() == jsonscan.String {
		appendName(&c.Names, url.Text())
	} else if url != "" {
		c.Malformed = "params.url is not a string"
	}
	if speaksAsUs(message.Text()) || anySpeaksAsUs(fs.params.Member("requestedSchema")) {
		c.Malformed = imitates
	}
}

// appendTexts appends every string in v, at any depth. If names are given, it appends only the
// strings in members with these names.
func appendTexts(v jsonscan.Value, to *[]string, names ...string) {
	v.VisitLeaves(func(name string, leaf jsonscan.Value) {
		if leaf.Kind() == jsonscan.String && (names == nil || slices.Contains(names, name)) {
			appendName(to, leaf.Text())
		}
	})
}
