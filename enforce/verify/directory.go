package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/document"
)

const (
	wellKnown       = "/.well-known/http-message-signatures-directory"
	directoryAccept = "application/http-message-signatures-directory+json, application/jwk-set+json;q=0.9, application/json;q=0.8"
	maxKeys         = 256 // of a directory
)

// directoryTypes are the media types of a directory: the one of the draft standard, a variant that operators use, and those of JWK.
var directoryTypes = []string{
	"application/http-message-signatures-directory+json", "application/http-message-signatures-directory",
	"application/jwk-set+json", "application/jwk+json", "application/json",
}

// directoryURL returns the URL of an agent's keys: its well-known URL, or the agent's URL itself if that has a path or a query. It changes
// u.
func directoryURL(u *url.URL) string {
	u.Host, u.Fragment = withoutDefaultPort(u.Scheme, strings.ToLower(u.Host)), ""
	if (u.Path == "" || u.Path == "/") && u.RawQuery == "" {
		u.Path = wellKnown
	}
	return u.String()
}

// directory has the keys of an agent. It is immutable.
type directory struct{ keys map[string]*publicKey } // by thumbprint

func (d *directory) entries() int { return len(d.keys) }

// find returns the key with the thumbprint; nil if there is none or it is not valid at the time now. read is when the directory was read.
// For FreshPeriod from then on, a key counts even after its `exp`, because some operators move `exp` forward with each read.
func (d *directory) find(thumbprint string, read, now time.Time) *publicKey {
	k := d.keys[thumbprint]
	if k == nil || !k.notBefore.IsZero() && k.notBefore.After(now.Add(clockSkew)) {
		return nil
	}
	if !k.expires.IsZero() && k.expires.Before(now) && now.Sub(read) > FreshPeriod {
		return nil
	}
	return k
}

// parseDirectory parses a directory: a JWK set, or a single JWK. It leaves out keys that it can't use. A directory without a usable key is
// an error.
func parseDirectory(r *document.Response, now time.Time) (*directory, error) {
	mediaType, _, err := mime.ParseMediaType(r.MediaType)
	if err != nil && mediaType == "" || !slices.Contains(directoryTypes, mediaType) {
		return nil, fmt.Errorf("the media type is %.100q: it must be one of %s", r.MediaType, strings.Join(directoryTypes, ", "))
	}
	keys, err := readKeys(r.Body)
	if err != nil {
		return nil, err
	}
	d := &directory{keys: make(map[string]*publicKey, len(keys))}
	var unusable error
	for i := range keys {
		k, err := parseKey(keys[i])
		switch {
		case err != nil:
			unusable = err
		case slices.Contains(testKeys, k.thumbprint):
			unusable = errors.New("RFC 9421 publishes the private key")
		case !k.expires.IsZero() && k.expires.Before(now):
			unusable = errors.New("the key has expired")
		default:
			d.keys[k.thumbprint] = k
		}
	}
	if len(d.keys) == 0 {
		if unusable != nil {
			return nil, fmt.Errorf("the directory has no usable key: %w", unusable)
		}
		return nil, errors.New("the directory has no keys")
	}
	return d, nil
}

func readKeys(body []byte) ([]json.RawMessage, error) {
	var set struct {
		Keys *[]json.RawMessage `json:"keys"`
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("parsing JSON: %w", err)
	}
	if set.Keys == nil {
		set.Keys = &[]json.RawMessage{body}
	}
	if len(*set.Keys) > maxKeys {
		return nil, fmt.Errorf("%d keys: the limit is %d", len(*set.Keys), maxKeys)
	}
	return *set.Keys, nil
}
