package workload

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// maxToken is the maximum number of bytes of a token. GitHub's tokens have about 2,000 bytes.
const maxToken = 16 << 10

// IsToken reports whether a text looks like a signed token. A key of the centre does not look
// like one.
func IsToken(text string) bool { return strings.Count(text, ".") == 2 }

// readIssuer returns the issuer that a token names. The token is not verified yet.
func readIssuer(raw string) (string, error) {
	if len(raw) > maxToken {
		return "", errors.New("it is too long")
	}
	if strings.Trim(raw, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return "", errors.New("it has signs that no token has")
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return "", errors.New("it has not three parts")
	}
	header, err := readPart(parts[0])
	if err != nil {
		return "", err
	}
	// A token of another kind may have the same claims, for example a token for a sign-out (RFC 8725
	// section 3.11).
	if kind, ok := header["typ"]; ok {
		if text, _ := kind.(string); !strings.EqualFold(text, "JWT") && !strings.EqualFold(text, "at+jwt") {
			return "", errors.New("its kind (typ) is another one")
		}
	}
	said, err := readPart(parts[1])
	if err != nil {
		return "", err
	}
	name, ok := said["iss"].(string)
	if !ok {
		return "", errors.New("it names no issuer (iss)")
	}
	return name, nil
}

// readPart decodes the header or the claims of a token.
func readPart(part string) (map[string]any, error) {
	src, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return nil, errors.New("it is not base64url")
	}
	var said map[string]any
	if err := json.Unmarshal(src, &said); err != nil || said == nil {
		return nil, errors.New("it is no object in JSON")
	}
	return said, nil
}
