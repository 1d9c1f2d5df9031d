package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// deviceGrant is the grant type of a device code (RFC 8628 section 3.4).
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// deviceAnswer is the answer of a device authorization endpoint.
type deviceAnswer struct {
	Device   string `json:"device_code"`
	User     string `json:"user_code"`
	Page     string `json:"verification_uri"`
	URL      string `json:"verification_url"` // Google uses this name for the page's address
	Complete string `json:"verification_uri_complete"`
	Lives    int64  `json:"expires_in"`
	Interval int64  `json:"interval"`
	Error    string `json:"error"`
}

// askDevice shows the owner a code, and waits until the owner has entered it at the provider.
func (c *Client) askDevice(ctx context.Context, endpoint string, ask tokenRequest) (*oauth2.Token, error) {
	got, err := requestDeviceCode(ctx, endpoint, ask)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(time.Duration(got.Lives) * time.Second)
	if err := c.o.Person.ShowCode(DeviceCode{got.Page, got.Complete, got.User, until}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	ask.params = url.Values{"grant_type": {deviceGrant}, "device_code": {got.Device}}
	ask.scopes = nil
	for pause := time.Duration(got.Interval) * time.Second; ; {
		if !sleepContext(ctx, pause) {
			return nil, &refusal{"the token endpoint", "expired_token"}
		}
		token, err := ask.send(ctx)
		if err == nil {
			return token, nil
		}
		failed, answered := errors.AsType[*oauth2.RetrieveError](err)
		switch {
		case answered && failed.ErrorCode == "authorization_pending":
		case answered && failed.ErrorCode == "slow_down":
			pause += 5 * time.Second
		case !answered && ctx.Err() == nil, answered && failed.Response != nil && isTransient(failed.Response.StatusCode):
			pause = min(2*pause, time.Minute) // RFC 8628 section 3.5: exponential backoff
		default:
			return nil, err
		}
	}
}

// requestDeviceCode asks for a code (RFC 8628 section 3.1).
func requestDeviceCode(ctx context.Context, endpoint string, ask tokenRequest) (deviceAnswer, error) {
	form := url.Values{"client_id": {ask.who.id}}
	if len(ask.scopes) > 0 {
		form.Set("scope", strings.Join(ask.scopes, " "))
	}
	if ask.who.secret != "" && ask.who.style == oauth2.AuthStyleInParams {
		form.Set("client_secret", ask.who.secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return deviceAnswer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if ask.who.secret != "" && ask.who.style != oauth2.AuthStyleInParams {
		r.SetBasicAuth(url.QueryEscape(ask.who.id), url.QueryEscape(ask.who.secret))
	}
	resp, err := ask.http.Do(r)
	if err != nil {
		return deviceAnswer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return deviceAnswer{}, err
	}
	var got deviceAnswer
	if err := json.Unmarshal(body, &got); err != nil || got.Error != "" || resp.StatusCode < 200 || resp.StatusCode > 299 {
		return deviceAnswer{}, &refusal{"the device authorization endpoint", errorCode(got.Error)}
	}
	if got.Page == "" {
		got.Page = got.URL
	}
	return got, got.complete()
}

// complete checks the texts for the owner, and fills in the fields that the server left out.
func (a *deviceAnswer) complete() error {
	if a.Device == "" || !isTypable(a.User) {
		return errors.New("the device authorization endpoint gave no code that can be typed")
	}
	if err := CheckPage(a.Page); err != nil {
		return fmt.Errorf("the device authorization endpoint: %w", err)
	}
	if a.Complete != "" && CheckPage(a.Complete) != nil {
		a.Complete = ""
	}
	if a.Interval <= 0 {
		a.Interval = 5
	}
	if a.Lives <= 0 {
		a.Lives = 15 * 60
	}
	a.Interval, a.Lives = min(a.Interval, 60), min(a.Lives, 30*60)
	return nil
}

// isTypable reports whether a person can type a code. The code comes from the server. So it must
// not be a sentence that tells the person something.
func isTypable(code string) bool {
	const most = 32
	return code != "" && len(code) <= most && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
