package modelapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Offer is a tool in a request that the service itself runs.
type Offer struct {
	Kind string // type without its version, such as "web_search"; one of OfferKinds
	// Alone means that the offer's element of the list holds nothing else. Then WithoutTools can
	// remove the element.
	Alone bool
	at    int // index of the element in the list of tools; -1 if the offer is outside the list
}

// hostedTypes are the beginnings of tool types that the services of Messages and of Responses run
// themselves.
var hostedTypes = map[API][]string{
	Messages:  {"web_search", "web_fetch", "code_execution", "mcp_toolset"},
	Responses: {"web_search", "file_search", "code_interpreter", "image_generation", "mcp"},
}

// hostedMembers maps the members of an element of Gemini's tool list to kinds of offers.
var hostedMembers = map[string]string{
	"googleSearch": "web_search", "google_search": "web_search", "googleSearchRetrieval": "web_search", "google_search_retrieval": "web_search",
	"codeExecution": "code_execution", "code_execution": "code_execution", "urlContext": "web_fetch", "url_context": "web_fetch",
	"fileSearch": "file_search", "file_search": "file_search", "googleMaps": "google_maps", "google_maps": "google_maps",
}

// OfferKinds returns the kinds of offers that a request of this API may hold.
func OfferKinds(api API) []string {
	switch api {
	case Messages:
		return append([]string{"mcp"}, hostedTypes[api]...)
	case Chat:
		return []string{"web_search"}
	case Gemini:
		return slices.Compact(slices.Sorted(maps.Values(hostedMembers)))
	}
	return hostedTypes[api]
}

// OfferWords returns words for a quick search: a request that offers a tool of this kind contains
// at least one of them. A word may also occur with another meaning. Letters of a word may be
// written as escapes in the request.
func OfferWords(api API, kind string) (words []string) {
	switch {
	case api == Gemini:
		for name, other := range hostedMembers {
			if other == kind {
				words = append(words, `"`+name+`"`)
			}
		}
		return words
	case api == Messages && kind == "mcp":
		return []string{`"mcp_servers"`}
	case api == Chat:
		return []string{`"web_search_options"`}
	}
	return []string{`"` + kind}
}

// readOffers finds the offers and the tool list of a request.
func (r *Request) readOffers(api API, root *object) error {
	r.Tools = root.value("tools")
	if api == Messages && root.value("mcp_servers").Kind() == jsonscan.Array && len(strings.Trim(string(root.value("mcp_servers")), "[] \t\r\n")) > 0 {
		r.Offers = append(r.Offers, Offer{Kind: "mcp", at: -1})
	}
	if api == Chat && root.value("web_search_options") != "" {
		r.Offers = append(r.Offers, Offer{Kind: "web_search", at: -1})
	}
	n := -1
	return visitObjects(r.Tools, func(o *object) error {
		n++
		if api == Gemini {
			for _, name := range o.names {
				if kind := hostedMembers[name]; kind != "" {
					r.Offers = append(r.Offers, Offer{Kind: kind, Alone: len(o.names) == 1, at: n})
				}
			}
			return nil
		}
		kind := o.text("type")
		for _, begin := range hostedTypes[api] {
			if strings.HasPrefix(kind, begin) {
				r.Offers = append(r.Offers, Offer{Kind: begin, Alone: true, at: n})
				break
			}
		}
		return nil
	})
}

// WithoutTools returns the tool list of a request without the given offers. The field Alone must be
// true in each of these offers. WithoutTools changes no other byte.
func (r *Request) WithoutTools(out []Offer) []byte {
	gone := map[int]bool{}
	for _, o := range out {
		gone[o.at] = true
	}
	text := string(r.Tools)
	var b strings.Builder
	n, end, kept := 0, 0, false
	for one := range r.Tools.Elements() {
		start := end + strings.IndexByte(text[end:], '{')
		switch before := text[end:start]; {
		case gone[n] && n == 0:
			b.WriteByte('[')
		case gone[n]:
		case !kept && n > 0: // without the comma, because the elements before it were removed
			b.WriteString(strings.TrimLeft(strings.TrimLeft(before, " \t\r\n"), ","))
			b.WriteString(string(one))
			kept = true
		default:
			b.WriteString(before)
			b.WriteString(string(one))
			kept = true
		}
		end = start + len(one)
		n++
	}
	b.WriteString(text[end:])
	return []byte(b.String())
}
