package oauth

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// refusal is a refusal by an authorization server. The field code is a standard error code or the
// text of an HTTP status, or "". The field where tells people which part of the server refused.
type refusal struct{ where, code string }

func (r *refusal) Error() string {
	return fmt.Sprintf("%s refused: %s", r.where, cmp.Or(r.code, "no reason"))
}

// isRefusal reports whether an authorization server has refused with this code.
func isRefusal(err error, code string) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.code == code
}

// errorCodes are the standard error codes of an authorization server (RFC 6749, sections
// 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8628, section 3.5; RFC 8707, section 2; OpenID
// Connect Core, section 3.1.2.6).
var errorCodes = []string{
	"access_denied", "account_selection_required", "authorization_pending", "consent_required", "expired_token", "interaction_required",
	"invalid_client", "invalid_client_metadata", "invalid_grant", "invalid_redirect_uri", "invalid_request", "invalid_scope",
	"invalid_software_statement", "invalid_target", "login_required", "server_error", "slow_down", "temporarily_unavailable",
	"unapproved_software_statement", "unauthorized_client", "unsupported_grant_type", "unsupported_response_type",
}

// providerCodes maps codes of GitHub and Slack to the standard codes that they stand for.
var providerCodes = map[string]string{
	"bad_client_secret": "invalid_client", "incorrect_client_credentials": "invalid_client", "invalid_client_id": "invalid_client",
	"bad_verification_code": "invalid_grant", "code_already_used": "invalid_grant", "invalid_code": "invalid_grant",
	"bad_redirect_uri": "invalid_redirect_uri", "redirect_uri_mismatch": "invalid_redirect_uri",
	"device_flow_disabled": "unauthorized_client",
}

// errorCode returns the standard error code that a server's code stands for. It returns "" for any
// other text, because a server can write any text as a code.
func errorCode(code string) string {
	if slices.Contains(errorCodes, code) {
		return code
	}
	return providerCodes[code]
}

// adviseNext adds advice to an error: the command that the owner should try next.
func (t terms) adviseNext(err error, server string) error {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		return err
	}
	why, next := t.nextTerms(r.code)
	return fmt.Errorf("%w; %s: %s", err, why, next.loginCommand(server))
}

// nextTerms returns the terms that the owner should try after a refusal with this code. The result
// why is the advice in words.
func (t terms) nextTerms(code string) (why string, next terms) {
	next = t
	switch code {
	case "access_denied":
		return "sign in as somebody whom the provider lets in", next
	case "invalid_scope":
		next.Scopes = []string{"SCOPE"}
		return "name the scopes that the client may have", next
	case "invalid_target":
		next.NoResource = !t.NoResource
		if t.NoResource {
			return "name the resource", next
		}
		return "the provider does not take the server's address as a resource; leave it out", next
	case "invalid_request":
		if t.NoResource {
			return "compare the client's settings at the provider, then", next
		}
		next.NoResource = true
		return "some providers take no resource; leave it out", next
	case "invalid_redirect_uri":
		next.Callback = cmp.Or(t.Callback, "127.0.0.1:PORT")
		return fmt.Sprintf("register http://%s%s as the client's redirect address at the provider, then", next.Callback, pathOf(next.Callback)), next
	case "invalid_client", "invalid_client_metadata", "invalid_software_statement", "unapproved_software_statement":
		next.id = cmp.Or(t.id, "ID")
		if t.KeyFile == "" {
			next.secret = "FILE"
		}
		return "use the id and the secret or key of a client that you registered at the provider", next
	case "unauthorized_client", "unsupported_grant_type", "unsupported_response_type":
		return "allow the client this way to sign in at the provider (" + t.grantName() + "), then", next
	case "server_error", "temporarily_unavailable", "slow_down":
		return "try again in a moment", next
	}
	return "begin anew", next
}

func (t terms) grantName() string {
	switch t.Grant {
	case GrantDevice:
		return "device code"
	case GrantClient:
		return "client credentials"
	case GrantCode:
	}
	return "authorization code"
}
