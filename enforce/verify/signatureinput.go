package verify

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// Limits of the signature fields of a request.
const (
	maxSignatureFields = 8 << 10     // octets of Signature, Signature-Input and Signature-Agent together
	maxSignatures      = 4           // of a request that are checked; further ones are ignored
	clockSkew          = time.Minute // how far a time may be in the future
)

// signatureInput is one signature of a message with its parameters (RFC 9421, section 4).
type signatureInput struct {
	label     string
	list      httpsfv.InnerList // the covered components, and the parameters
	signature []byte
	created   int64 // seconds since 1970
	expires   int64 // seconds since 1970
	keyID     string
	algorithm string // empty if absent
	nonce     string // empty if absent
}

// readInputs returns the signatures in header that have the tag, at most maxSignatures. It returns an error, and no signatures, if a field is
// malformed.
func readInputs(header http.Header, tag string) ([]*signatureInput, error) {
	fields, values := header["Signature-Input"], header["Signature"]
	if err := checkLabels(fields); err != nil {
		return nil, err
	}
	if err := checkLabels(values); err != nil {
		return nil, err
	}
	lists, err := httpsfv.UnmarshalDictionary(fields)
	if err != nil {
		return nil, fmt.Errorf("Signature-Input: %w", err)
	}
	signatures, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return nil, fmt.Errorf("Signature: %w", err)
	}
	var inputs []*signatureInput
	for _, label := range lists.Names() {
		member, _ := lists.Get(label)
		list, ok := member.(httpsfv.InnerList)
		if !ok || list.Params == nil || stringParam(list, "tag") != tag {
			continue
		}
		value, ok := signatures.Get(label)
		if !ok {
			return nil, fmt.Errorf("Signature has no member %q, but Signature-Input has", label)
		}
		item, _ := value.(httpsfv.Item)
		octets, ok := item.Value.([]byte)
		if !ok {
			return nil, fmt.Errorf("Signature: the member %q is not a byte sequence", label)
		}
		inputs = append(inputs, &signatureInput{
			label: label, list: list, signature: octets, created: timeParam(list, "created"), expires: timeParam(list, "expires"),
			keyID: stringParam(list, "keyid"), algorithm: stringParam(list, "alg"), nonce: stringParam(list, "nonce"),
		})
		if len(inputs) == maxSignatures {
			break
		}
	}
	return inputs, nil
}

// checkTimes returns what is wrong with created, expires or keyid, which are all required; NoReason if they are valid.
func (in *signatureInput) checkTimes(now time.Time) Reason {
	switch {
	case in.created <= 0 || in.expires <= 0 || in.keyID == "" || in.expires <= in.created:
		return SignatureMalformed
	case in.created > now.Add(clockSkew).Unix():
		return SignatureFromFuture
	case in.expires <= now.Unix():
		return SignatureExpired
	}
	return NoReason
}

// covers reports whether the signature covers the component id without parameters.
func (in *signatureInput) covers(id string) bool {
	for _, item := range in.list.Items {
		if item.Value == id && (item.Params == nil || len(item.Params.Names()) == 0) {
			return true
		}
	}
	return false
}

// coversDigest reports whether the signature covers Content-Digest.
func (in *signatureInput) coversDigest() bool {
	return slices.ContainsFunc(in.list.Items, func(item httpsfv.Item) bool { return item.Value == "content-digest" })
}

func stringParam(list httpsfv.InnerList, name string) string {
	value, _ := list.Params.Get(name)
	text, _ := value.(string)
	return text
}

func timeParam(list httpsfv.InnerList, name string) int64 {
	value, _ := list.Params.Get(name)
	seconds, _ := value.(int64)
	return seconds
}

var errLabels = errors.New("a dictionary has the same key twice")

// checkLabels returns an error if a dictionary has the same key twice. RFC 9651 lets the last one count, but another implementation may use the
// first one.
func checkLabels(fields []string) error {
	seen := make(map[string]bool, 2)
	for _, field := range fields {
		for start := 0; start < len(field); {
			end := memberEnd(field, start)
			label := strings.Trim(field[start:end], " \t")
			if at := strings.IndexAny(label, "=;"); at >= 0 {
				label = label[:at]
			}
			if seen[label] {
				return errLabels
			}
			seen[label] = true
			start = end + 1
		}
	}
	return nil
}

// memberEnd returns the end of the dictionary member that begins at start: the next comma outside strings, or the end of the field.
func memberEnd(field string, start int) int {
	quoted := false
	for i := start; i < len(field); i++ {
		switch c := field[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return i
		}
	}
	return len(field)
}
