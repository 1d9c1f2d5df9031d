// Package modelapi reads what agents and the services of models write to each other: the requests
// and replies of Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's
// generateContent, whole and as event streams. It finds tool calls, their results and what the
// user said, and where they stand, so that a caller can replace a name or a result and leave every
// other byte as it is.
//
// A text that two readers could read differently is an error: a member twice, a call whose
// arguments come in two versions. The package changes nothing and reads no file.
package modelapi
