package oauth

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"
)

// Person is the owner, who has started the sign-in and sees its output.
type Person interface {
	// ShowPage shows the address of the sign-in page. It is called if no browser could be opened.
	// device means that the provider also offers a code for another device.
	ShowPage(page string, device bool) error
	// ReadAddress returns the text that the owner has pasted: the address to which the browser was
	// sent. The browser may run on another machine. why tells what was wrong with the previous
	// text. Without a terminal the error is ErrNoPaste.
	ReadAddress(ctx context.Context, why error) (string, error)
	// ShowCode shows the code, and the page where the owner must enter it.
	ShowCode(DeviceCode) error
}

// ErrNoPaste means that there is no place to paste an address.
var ErrNoPaste = errors.New("there is no terminal to paste an address into")

// DeviceCode holds the code that the owner enters on another device, and its pages.
type DeviceCode struct {
	Page     string // the page where the owner enters the code
	Complete string // the page with the code in its address; "" if the server has sent none
	Code     string
	Expires  time.Time
}

// readAddress asks for an address until the owner pastes one that belongs to this sign-in.
func (c *Client) readAddress(ctx context.Context, redirect *url.URL, state string, check func(callback) error) (callback, error) {
	for why := error(nil); ; {
		text, err := c.o.Person.ReadAddress(ctx, why)
		if err != nil {
			return callback{}, err
		}
		q, err := readPasted(text, redirect, state)
		if err != nil {
			why = err
			continue
		}
		got, err := takeAnswer(q, check)
		if ended := (*refusal)(nil); err == nil || errors.As(err, &ended) {
			return got, err
		}
		why = err
	}
}

// readPasted returns the query of a pasted address. The address must be the callback's address. The
// query alone is enough, and so are the code and the state as two words. The errors contain nothing
// of the text, because the text contains a code.
func readPasted(text string, redirect *url.URL, state string) (url.Values, error) {
	text = strings.TrimSpace(text)
	if words := strings.Fields(text); len(words) == 2 && !strings.ContainsAny(text, "?&=") {
		text = url.Values{"code": words[:1], "state": words[1:]}.Encode()
	}
	query := text
	if at, after, found := strings.Cut(text, "?"); found {
		if at != "" {
			if !strings.Contains(at, "://") { // some browsers hide the scheme
				at = redirect.Scheme + "://" + at
			}
			if u, err := url.Parse(at); err != nil || u.Scheme != redirect.Scheme || u.Host != redirect.Host || u.Path != redirect.Path || u.User != nil {
				return nil, errors.New("this is not the address to which the page sends the browser, which begins with " + redirect.String() + "?")
			}
		}
		query = after
	}
	query, _, _ = strings.Cut(query, "#")
	q, err := url.ParseQuery(query)
	switch {
	case err != nil || !strings.Contains(query, "="):
		return nil, errors.New("this holds no code; paste the whole address that the browser shows after the sign-in")
	case len(q["state"]) != 1 || len(q["code"])+len(q["error"]) != 1 || len(q["iss"]) > 1 || q.Get("code")+q.Get("error") == "":
		return nil, errors.New("this holds no code or no state; paste the whole address that the browser shows after the sign-in")
	case state == "" || q.Get("state") != state:
		return nil, errors.New("this address is of another sign-in; open the page above, and paste the address that it leads to")
	}
	return q, nil
}
