package verify

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/internal/document"
)

const (
	wellKnown       = "/.well-known/http-message-signatures-directory"
	directoryTag    = "http-message-signatures-directory"
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
		k, err := keys[i].publicKey()
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
	if r.Header != nil {
		if err := checkDirectorySignatures(r, d); err != nil {
			return nil, fmt.Errorf("the signature of the directory: %w", err)
		}
	}
	return d, nil
}

func readKeys(body []byte) ([]jwk, error) {
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
	keys := make([]jwk, len(*set.Keys))
	for i, raw := range *set.Keys {
		// A key that is not a JWK stays empty; publicKey refuses it.
		if json.Unmarshal(raw, &keys[i]) != nil {
			keys[i] = jwk{}
		}
	}
	return keys, nil
}

// checkDirectorySignatures checks the signatures of a directory, which prove that its server has the private keys. They are optional. A
// signature that is not valid makes the directory unusable.
func checkDirectorySignatures(r *document.Response, d *directory) error {
	if len(r.Header["Signature-Input"]) == 0 {
		return nil
	}
	fields := newReading(&claim.Message{Header: r.Header})
	inputs, err := fields.inputs(directoryTag)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		k := d.keys[in.keyID]
		if k == nil {
			continue // the key is not used
		}
		base, err := signatureBase(in.list, func(item httpsfv.Item) (string, error) { return directoryComponent(r, fields, item) })
		if err != nil {
			return err
		}
		if !k.verify(base, in.signature) {
			return fmt.Errorf("signature %q does not match", in.label)
		}
	}
	return nil
}

// directoryComponent returns the value of a covered component of a directory's response.
func directoryComponent(r *document.Response, fields *reading, item httpsfv.Item) (string, error) {
	id, _ := item.Value.(string)
	names := item.Params.Names()
	switch {
	case id == "@authority" && len(names) == 1 && names[0] == "req":
		return strings.ToLower(r.Authority), nil
	case id == "@status" && len(names) == 0:
		return "200", nil
	case strings.HasPrefix(id, "@") || len(names) > 0:
		return "", errComponent
	case id == "content-digest":
		digests, err := fields.dictionary(id)
		if err != nil {
			return "", fmt.Errorf("Content-Digest: %w", err)
		}
		if err := checkDigest(digests, r.Body); err != nil {
			return "", err
		}
	}
	return fields.field(id, item, nil)
}

// digestHashes are the hashes of Content-Digest that are known, by their names.
var digestHashes = map[string]func() hash.Hash{"sha-256": sha256.New, "sha-512": sha512.New}

// checkDigest compares the members of Content-Digest (RFC 9530) with the content. It ignores unknown algorithms; if all are unknown, it
// returns errComponent.
func checkDigest(digests *httpsfv.Dictionary, body []byte) error {
	known := false
	for _, name := range digests.Names() {
		newHash := digestHashes[name]
		if newHash == nil {
			continue
		}
		known = true
		sum := newHash()
		sum.Write(body)
		member, _ := digests.Get(name)
		item, _ := member.(httpsfv.Item)
		if octets, _ := item.Value.([]byte); !bytes.Equal(octets, sum.Sum(nil)) {
			return errors.New("Content-Digest does not match the content")
		}
	}
	if !known {
		return errComponent
	}
	return nil
}
