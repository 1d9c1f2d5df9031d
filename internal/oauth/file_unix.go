//go:build unix

package oauth

// exposed: mode bits say who can read a file.
const exposed = true
