package verify

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

const (
	wellKnown       = "/.well-known/http-message-signatures-directory"
	directoryTag    = "http-message-signatures-directory"
	directoryAccept = "application/http-message-signatures-directory+json, application/jwk-set+json;q=0.9, application/json;q=0.8"
	maxKeys         = 256 // of a directory
)

// directoryTypes are the media types of a directory: that of the standard, one that was seen in its place, and those of JWK.
var directoryTypes = []string{
	"application/http-message-signatures-directory+json", "application/http-message-signatures-directory",
	"application/jwk-set+json", "application/jwk+json", "application/json",
}

// directoryURL returns where the keys of an agent are: at the well-known place, unless the address has a path.
func directoryURL(agent string) (string, error) {
	if err := CheckURL(agent); err != nil {
		return "", err
	}
	u, err := url.Parse(agent)
	if err != nil {
		return "", err
	}
	u.Host = strings.ToLower(u.Host)
	u.Host = strings.TrimSuffix(u.Host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	if (u.Path == "" || u.Path == "/") && u.RawQuery == "" {
		u.Path = wellKnown
	}
	return u.String(), nil
}

// directory is the keys of an agent, by thumbprint. It is immutable.
type directory struct{ keys map[string]*publicKey }

func (d *directory) entries() int { return len(d.keys) }

// find returns the key, nil where the directory has none such or it is not valid at the time. read is when the directory was read: as long
// as that is not long ago, `exp` counts as it was then, for some directories move it forward with each read.
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

// directoryParser returns the function that reads a directory: a JWK set, or a single JWK. Keys that can't be used are left out; a
// directory without any other is an error. refused are the thumbprints of keys that are never used.
func directoryParser(refused []string) func(*response, *directory, time.Time) (*directory, error) {
	return func(r *response, _ *directory, now time.Time) (*directory, error) {
		mediaType, _, err := mime.ParseMediaType(r.mediaType)
		if err != nil && mediaType == "" || !slices.Contains(directoryTypes, mediaType) {
			return nil, fmt.Errorf("media type %.100q is not that of a directory of keys", r.mediaType)
		}
		keys, err := readKeys(r.body)
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
			case slices.Contains(refused, k.thumbprint):
				unusable = errors.New("the key is one that RFC 9421 prints with its private half")
			case !k.expires.IsZero() && k.expires.Before(now):
				unusable = errors.New("the key has expired")
			default:
				d.keys[k.thumbprint] = k
			}
		}
		if len(d.keys) == 0 {
			if unusable != nil {
				return nil, fmt.Errorf("the directory has no key that can be used: %w", unusable)
			}
			return nil, errors.New("the directory has no keys")
		}
		if r.header != nil {
			if err := checkDirectorySignatures(r, d); err != nil {
				return nil, fmt.Errorf("the directory's own signature: %w", err)
			}
		}
		return d, nil
	}
}

func readKeys(body []byte) ([]jwk, error) {
	var set struct {
		Keys *[]json.RawMessage `json:"keys"`
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	if set.Keys == nil {
		set.Keys = &[]json.RawMessage{body}
	}
	if len(*set.Keys) > maxKeys {
		return nil, fmt.Errorf("more than %d keys", maxKeys)
	}
	keys := make([]jwk, len(*set.Keys))
	for i, raw := range *set.Keys {
		// A key that is no JWK at all stays empty, which publicKey refuses.
		if json.Unmarshal(raw, &keys[i]) != nil {
			keys[i] = jwk{}
		}
	}
	return keys, nil
}

// checkDirectorySignatures checks the signatures that a directory is sent with, by which it proves that it has the private keys. They are
// optional; one that is there and does not hold makes the directory unusable.
func checkDirectorySignatures(r *response, d *directory) error {
	if len(r.header["Signature-Input"]) == 0 {
		return nil
	}
	if fieldsSize(r.header) > maxSignatureFields {
		return errors.New("the signature fields are too long")
	}
	inputs, err := readInputs(r.header, directoryTag)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		k := d.keys[in.keyID]
		if k == nil {
			continue // of a key that is not used
		}
		base, err := signatureBase(in.list, r.component)
		if err != nil {
			return err
		}
		if !k.verify(base, in.signature) {
			return errors.New("it is wrong")
		}
	}
	return nil
}

// component returns the value of a component of a directory's signature.
func (r *response) component(item httpsfv.Item) (string, error) {
	id, _ := item.Value.(string)
	names := item.Params.Names()
	switch {
	case id == "@authority" && len(names) == 1 && names[0] == "req":
		return strings.ToLower(r.authority), nil
	case id == "@status" && len(names) == 0:
		return "200", nil
	case strings.HasPrefix(id, "@") || len(names) > 0:
		return "", errComponent
	case id == "content-digest":
		if err := checkDigest(r.header, r.body); err != nil {
			return "", err
		}
	}
	return (&Message{Header: r.header}).field(id, item, nil)
}

// checkDigest compares the Content-Digest field (RFC 9530) with the content. Algorithms that are not known are ignored, unless there is no
// other.
func checkDigest(header http.Header, body []byte) error {
	digests, err := httpsfv.UnmarshalDictionary(header["Content-Digest"])
	if err != nil {
		return fmt.Errorf("Content-Digest: %w", err)
	}
	known := false
	for _, name := range digests.Names() {
		var sum []byte
		switch name {
		case "sha-256":
			s := sha256.Sum256(body)
			sum = s[:]
		case "sha-512":
			s := sha512.Sum512(body)
			sum = s[:]
		default:
			continue
		}
		known = true
		member, _ := digests.Get(name)
		item, _ := member.(httpsfv.Item)
		if octets, _ := item.Value.([]byte); !bytes.Equal(octets, sum) {
			return errors.New("Content-Digest is not that of the content")
		}
	}
	if !known {
		return errComponent
	}
	return nil
}

// fieldsSize returns how many octets the signature fields have.
func fieldsSize(header http.Header) (n int) {
	for _, name := range []string{"Signature-Input", "Signature", "Signature-Agent"} {
		for _, value := range header[name] {
			n += len(value)
		}
	}
	return n
}
