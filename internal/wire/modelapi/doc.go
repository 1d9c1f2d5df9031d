// Package modelapi reads the requests of agents to models' services and the services' replies. It
// knows Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's
// generateContent, each as a whole document or as an event stream. It finds tool calls, their
// results and the user's texts, with their positions. So a caller can replace a name or a result
// and leave every other byte unchanged.
//
// It returns an error for a text that two readers could read differently, such as a member that
// occurs twice or a call with two versions of its arguments. The package changes nothing and reads
// no file.
package modelapi
