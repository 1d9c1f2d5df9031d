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
	Choices
	Server       string           `json:"server"`             // the server's address
	Resource     string           `json:"resource,omitempty"` // the member "resource" of the token request; "" in an entry of an earlier version
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	ByHand       bool             `json:"by_hand,omitempty"` // the owner has registered this client
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Issuer       string           `json:"issuer,omitempty"` // issuer of the authorization server; "" in an entry of an earlier version
	AuthURL      string           `json:"auth_url,omitempty"`
	TokenURL     string           `json:"token_url"`
	Scopes       []string         `json:"scopes,omitempty"`
	AccessToken  string           `json:"access_token"`
	TokenType    string           `json:"token_type,omitempty"`
	RefreshToken string           `json:"refresh_token,omitempty"`
	Expiry       time.Time        `json:"expiry,omitzero"`
	Requested    []string         `json:"requested,omitempty"`  // for client credentials: the requested scopes; Scopes has the scopes that were granted
	NoOffline    bool             `json:"no_offline,omitempty"` // the server has refused the scope offline_access
	Audience     string           `json:"audience,omitempty"`   // the audience of the assertions, if the client has a key
	Unproven     bool             `json:"unproven,omitempty"`   // the server has refused the earlier token and has not accepted this one yet
	Since        time.Time        `json:"since"`                // time of the sign-in
}

// ErrNone means that a Store has no entry for a server.
var ErrNone = errors.New("not signed in")

// DamageError means that some entries of a store cannot be read. The other entries can be read.
type DamageError struct{ entries []error }

func (e *DamageError) Error() string { return errors.Join(e.entries...).Error() }

func (e *DamageError) Unwrap() []error { return e.entries }

// damageOf returns the error for entries that cannot be read; nil if there are no such entries.
func damageOf(entries []error) error {
	if len(entries) == 0 {
		return nil
	}
	return &DamageError{entries}
}

// Store keeps entries by server. Its methods are safe for concurrent use, also by several
// processes.
type Store interface {
	Load(server string) (StoredSignIn, error) // the error is ErrNone if there is no entry
	Save(e StoredSignIn) error
	Delete(server string) error // the error is ErrNone if there is no entry
	// List returns all entries that can be read. If some entries cannot be read, the error is a
	// *DamageError.
	List() ([]StoredSignIn, error)
	Name() string // the place of the entries, for people
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

// IsRenewable reports whether clawai can get a new token without the owner.
func (e *StoredSignIn) IsRenewable() bool { return e.RefreshToken != "" || e.Grant == GrantClient }

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
	if err = json.Unmarshal(data, &e); err == nil && e.Server == "" {
		err = errors.New("it names no server")
	}
	if err != nil {
		return StoredSignIn{}, fmt.Errorf("the stored sign-in cannot be read (%w)", err)
	}
	return e, nil
}
