package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// StoredSignIn is what is kept of one sign-in.
type StoredSignIn struct {
	Server       string           `json:"server"`             // the address it is for
	Resource     string           `json:"resource,omitempty"` // that the sign-in named; "" in an entry of an earlier version
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	ByHand       bool             `json:"by_hand,omitempty"` // the owner registered that client
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Issuer       string           `json:"issuer,omitempty"` // of the authorization server; "" when it has no metadata
	AuthURL      string           `json:"auth_url,omitempty"`
	TokenURL     string           `json:"token_url"`
	Scopes       []string         `json:"scopes,omitempty"`
	AccessToken  string           `json:"access_token"`
	TokenType    string           `json:"token_type,omitempty"`
	RefreshToken string           `json:"refresh_token,omitempty"`
	Expiry       time.Time        `json:"expiry,omitzero"`
	Unproven     bool             `json:"unproven,omitempty"` // the token came for one that was refused, and the server has not taken it yet
	Since        time.Time        `json:"since"`              // of the sign-in
}

// ErrNone is what a Store says of a server it has nothing for.
var ErrNone = errors.New("not signed in")

// Store keeps entries, by server. Its methods are safe for concurrent use, also
// by several processes.
type Store interface {
	Load(server string) (StoredSignIn, error) // ErrNone when there is none
	Save(e StoredSignIn) error
	Delete(server string) error // ErrNone when there is none
	List() ([]StoredSignIn, error)
	Name() string // for people: where the entries are
}

// ServerKey gives the address by which a server is known: scheme and host in lower case,
// no default port, no fragment, and no query.
func ServerKey(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p := u.Port(); p != "" && !(u.Scheme == "https" && p == "443") && !(u.Scheme == "http" && p == "80") {
		host += ":" + p
	}
	return strings.ToLower(u.Scheme) + "://" + host + u.EscapedPath()
}

func (e *StoredSignIn) oauthToken() *oauth2.Token {
	return &oauth2.Token{AccessToken: e.AccessToken, TokenType: e.TokenType, RefreshToken: e.RefreshToken, Expiry: e.Expiry}
}

// setToken puts a new token into e. A server may keep the refresh token it gave.
func (e *StoredSignIn) setToken(t *oauth2.Token) {
	e.AccessToken, e.TokenType, e.Expiry = t.AccessToken, t.TokenType, t.Expiry
	if t.RefreshToken != "" {
		e.RefreshToken = t.RefreshToken
	}
	if scope, ok := t.Extra("scope").(string); ok && scope != "" {
		e.Scopes = strings.Fields(scope)
	}
}

// encodeEntry writes an entry for a store: secrets and all.
func encodeEntry(e StoredSignIn) ([]byte, error) { return json.Marshal(e) } //nolint:gosec // a store is where they belong

func decodeEntry(data []byte) (e StoredSignIn, err error) {
	if err = json.Unmarshal(data, &e); err != nil || e.Server == "" {
		return StoredSignIn{}, fmt.Errorf("a stored sign-in cannot be read; sign in again: %w", err)
	}
	return e, nil
}
