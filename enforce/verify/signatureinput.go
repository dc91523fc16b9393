package verify

import (
	"fmt"
	"slices"
	"time"

	"github.com/dunglas/httpsfv"
)

// Limits of the signatures of a request.
const (
	maxSignatures = 4           // of a request that are checked; further ones are ignored
	clockSkew     = time.Minute // how far a time may be in the future
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

// inputs returns the signatures of the message that have the tag, at most maxSignatures. It returns an error, and no signatures, if a field is
// malformed.
func (r *reading) inputs(tag string) ([]*signatureInput, error) {
	lists, err := r.dictionary("signature-input")
	if err != nil {
		return nil, fmt.Errorf("Signature-Input: %w", err)
	}
	signatures, err := r.dictionary("signature")
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
		if len(list.Items) > maxComponents {
			return nil, errTooLong
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
