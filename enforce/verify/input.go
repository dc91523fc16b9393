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

// Bounds of the signature fields of a request.
const (
	maxSignatureFields = 8 << 10 // octets of Signature, Signature-Input and Signature-Agent together
	maxSignatures      = 4       // of a request that are checked
	clockSkew          = time.Minute
)

// input is one signature of a message.
type input struct {
	label     string
	list      httpsfv.InnerList // the components, and the parameters
	signature []byte
	created   int64 // seconds since 1970
	expires   int64
	keyID     string
	algorithm string // empty: not given
	nonce     string // empty: none
}

// readInputs returns the signatures of header that have the tag, at most maxSignatures. Fields that are malformed are an error: nothing
// of them counts.
func readInputs(header http.Header, tag string) ([]*input, error) {
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
	var inputs []*input
	for _, label := range lists.Names() {
		member, _ := lists.Get(label)
		list, ok := member.(httpsfv.InnerList)
		if !ok || list.Params == nil || stringParam(list, "tag") != tag {
			continue
		}
		value, ok := signatures.Get(label)
		if !ok {
			return nil, fmt.Errorf("there is no signature %q", label)
		}
		item, _ := value.(httpsfv.Item)
		octets, ok := item.Value.([]byte)
		if !ok {
			return nil, fmt.Errorf("the signature %q is not a byte sequence", label)
		}
		inputs = append(inputs, &input{
			label: label, list: list, signature: octets, created: timeParam(list, "created"), expires: timeParam(list, "expires"),
			keyID: stringParam(list, "keyid"), algorithm: stringParam(list, "alg"), nonce: stringParam(list, "nonce"),
		})
		if len(inputs) == maxSignatures {
			break
		}
	}
	return inputs, nil
}

// checkTimes tells what is wrong with the times of the signature, which are required.
func (in *input) checkTimes(now time.Time) Reason {
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

// covers reports whether the component id is covered as it is, without parameters.
func (in *input) covers(id string) bool {
	for _, item := range in.list.Items {
		if item.Value == id && (item.Params == nil || len(item.Params.Names()) == 0) {
			return true
		}
	}
	return false
}

// coversDigest reports whether the signature covers the content.
func (in *input) coversDigest() bool {
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

var errLabels = errors.New("a label is there twice")

// checkLabels refuses a dictionary with a key that is there twice. Structured fields let the last one count, and another reader of the
// message may take the first one.
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

// memberEnd returns where the member of a dictionary that begins at start ends: at a comma outside of strings, or at the field's end.
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
