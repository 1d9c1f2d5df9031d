package queue

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/policy"
)

// text is a string in a JSON column. JSON strings are UTF-8. A string with other bytes becomes
// {"bytes": "base64"}.
type text string

type rawText struct {
	Bytes []byte `json:"bytes"`
}

func (t text) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(t)) {
		return json.Marshal(rawText{[]byte(t)})
	}
	return encodeJSON(string(t))
}

func (t *text) UnmarshalJSON(src []byte) error {
	if len(src) > 0 && src[0] == '{' {
		var raw rawText
		err := json.Unmarshal(src, &raw)
		*t = text(raw.Bytes)
		return err
	}
	return json.Unmarshal(src, (*string)(t))
}

// encodeJSON returns v as JSON. It leaves <, > and & as they are.
func encodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// packList returns a list as JSON for a column; nil becomes NULL.
func packList[T any](v []T) (any, error) {
	if v == nil {
		return nil, nil
	}
	b, err := encodeJSON(v)
	return string(b), err
}

// unpackList decodes the JSON of a column that packList has encoded. If *err is already set,
// unpackList decodes nothing and the earlier error stays.
func unpackList[T any](s sql.NullString, err *error) (v T) {
	if s.Valid && *err == nil {
		*err = json.Unmarshal([]byte(s.String), &v)
	}
	return v
}

// convertList returns a list of the results of one(v) for each element v. A nil list stays nil, and
// an empty list stays empty.
func convertList[To, From any](in []From, one func(From) To) (out []To) {
	if in != nil {
		out = make([]To, len(in))
	}
	for i, v := range in {
		out[i] = one(v)
	}
	return out
}

func toTexts(in []string) []text { return convertList(in, func(s string) text { return text(s) }) }

func toStrings(in []text) []string { return convertList(in, func(t text) string { return string(t) }) }

// storedCall is the JSON form of a call.
type storedCall struct {
	Server    text   `json:"server"`
	Method    text   `json:"method"`
	Subject   string `json:"subject"`
	Names     []text `json:"names"`
	Arguments *text  `json:"arguments"`
	Malformed text   `json:"malformed"`
	Extra     *text  `json:"extra,omitempty"`
}

func packCalls(calls []policy.Call) (any, error) {
	var out []storedCall // stays nil if there are no calls, so that the column is NULL
	for _, c := range calls {
		out = append(out, storedCall{text(c.Server), text(c.Method), packSubject(c.Subject), toTexts(c.Names),
			optionalText(c.Args), text(c.Malformed), optionalText(c.Extra)})
	}
	return packList(out)
}

// optionalText returns b as a *text; nil for nil.
func optionalText(b []byte) *text {
	if b == nil {
		return nil
	}
	t := text(b)
	return &t
}

func (t *text) toBytes() []byte {
	if t == nil {
		return nil
	}
	return []byte(*t)
}

// storedMore is the column of all calls after the first, used if one of the calls has an Extra. An
// older clawai does not know this form. It finds no list in the column and shows the row as broken,
// which is better than a call with a part missing.
type storedMore struct {
	Extra *text           `json:"extra"` // Extra of the first call
	Calls json.RawMessage `json:"calls"`
}

func packMore(calls []policy.Call) (any, error) {
	more, err := packCalls(calls[1:])
	if err != nil || !slices.ContainsFunc(calls, func(c policy.Call) bool { return c.Extra != nil }) {
		return more, err
	}
	stored := storedMore{Extra: optionalText(calls[0].Extra), Calls: json.RawMessage("[]")}
	if more != nil {
		stored.Calls = json.RawMessage(more.(string))
	}
	b, err := encodeJSON(stored)
	return string(b), err
}

// unpackMore decodes the column of storedMore. It returns the value of Extra for the first call,
// and all calls after the first.
func unpackMore(s sql.NullString, err *error) (extra []byte, calls []policy.Call) {
	if !strings.HasPrefix(s.String, "{") {
		return nil, unpackCalls(s, err)
	}
	more := unpackList[storedMore](s, err)
	return more.Extra.toBytes(), unpackCalls(sql.NullString{String: string(more.Calls), Valid: true}, err)
}

func unpackCalls(s sql.NullString, err *error) (calls []policy.Call) {
	for _, in := range unpackList[[]storedCall](s, err) {
		c := policy.Call{Server: string(in.Server), Method: string(in.Method), Subject: unpackSubject(in.Subject),
			Names: toStrings(in.Names), Malformed: string(in.Malformed), Args: in.Arguments.toBytes(), Extra: in.Extra.toBytes()}
		calls = append(calls, c)
	}
	return calls
}

// storedOffer is the JSON form of a view.Offer.
type storedOffer struct {
	Scope   text `json:"scope"`
	Title   text `json:"title"`
	Session text `json:"session"`
	Allow   text `json:"allow"`
	Deny    text `json:"deny"`
	Example text `json:"example"`
}

func packOffers(offers []view.Offer) (any, error) {
	return packList(convertList(offers, func(o view.Offer) storedOffer {
		return storedOffer{text(o.Scope), text(o.Title), text(o.Session), text(o.Allow), text(o.Deny), text(o.Example)}
	}))
}

func unpackOffers(s sql.NullString, err *error) []view.Offer {
	return convertList(unpackList[[]storedOffer](s, err), func(o storedOffer) view.Offer {
		return view.Offer{
			Scope: string(o.Scope), Title: string(o.Title), Session: string(o.Session),
			Allow: string(o.Allow), Deny: string(o.Deny), Example: string(o.Example),
		}
	})
}
