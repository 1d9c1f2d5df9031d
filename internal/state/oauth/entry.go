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

// StoredSignIn is the stored data of one sign-in.
type StoredSignIn struct {
	Server       string           `json:"server"`             // the server's address
	Resource     string           `json:"resource,omitempty"` // the "resource" of the token request; "" in an entry of an earlier version
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	ByHand       bool             `json:"by_hand,omitempty"` // the owner registered this client
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Issuer       string           `json:"issuer,omitempty"` // issuer of the authorization server; "" in an entry of an earlier version
	AuthURL      string           `json:"auth_url,omitempty"`
	TokenURL     string           `json:"token_url"`
	Scopes       []string         `json:"scopes,omitempty"`
	AccessToken  string           `json:"access_token"`
	TokenType    string           `json:"token_type,omitempty"`
	RefreshToken string           `json:"refresh_token,omitempty"`
	Expiry       time.Time        `json:"expiry,omitzero"`
	Unproven     bool             `json:"unproven,omitempty"` // the token replaced a refused one, and the server has not accepted it yet
	Since        time.Time        `json:"since"`              // time of the sign-in
}

// ErrNone means that a Store has no entry for a server.
var ErrNone = errors.New("not signed in")

// Store keeps entries by server. Its methods are safe for concurrent use, also by several
// processes.
type Store interface {
	Load(server string) (StoredSignIn, error) // ErrNone when there is none
	Save(e StoredSignIn) error
	Delete(server string) error // ErrNone when there is none
	List() ([]StoredSignIn, error)
	Name() string // for people: the place of the entries
}

// ServerKey returns the address that identifies a server: scheme and host in lower case, without
// default port, fragment and query.
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

// setToken puts a new token into e. If the server sends no new refresh token, the old one stays.
func (e *StoredSignIn) setToken(t *oauth2.Token) {
	e.AccessToken, e.TokenType, e.Expiry = t.AccessToken, t.TokenType, t.Expiry
	if t.RefreshToken != "" {
		e.RefreshToken = t.RefreshToken
	}
	if scope, ok := t.Extra("scope").(string); ok && scope != "" {
		e.Scopes = strings.Fields(scope)
	}
}

// encodeEntry encodes an entry for a store, including its secrets.
func encodeEntry(e StoredSignIn) ([]byte, error) { return json.Marshal(e) } //nolint:gosec // only a store gets the secrets

func decodeEntry(data []byte) (e StoredSignIn, err error) {
	if err = json.Unmarshal(data, &e); err != nil || e.Server == "" {
		return StoredSignIn{}, fmt.Errorf("a stored sign-in cannot be read; sign in again: %w", err)
	}
	return e, nil
}
