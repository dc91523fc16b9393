package verify

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/document"
)

// signatureTag is the tag of Web Bot Auth signatures (draft-ietf-webbotauth-httpsig-protocol).
const signatureTag = "web-bot-auth"

// Signature checks the Web Bot Auth signatures of m. It returns the crawler that signed the request, whatever the User-Agent states.
//
// named is the crawler that the User-Agent names, or nil. If a signature names no directory, the key is searched in the directories of
// named. If several crawlers share a directory that has the key, and named is one of them, Signature returns named.
//
// The state is Verified with the crawler, or Unverified with nil and the reason. The result is the zero Result if m has no Web Bot Auth
// signature. The state is never Impostor, because a signature that is not valid does not refute a claim. Call Signature only once for each
// request: with a nonce, a second call returns SignatureReplayed.
func (c *Checker) Signature(m *claim.Message, named *crawler.Crawler, now time.Time) (*crawler.Crawler, claim.Result) {
	if len(m.Header["Signature-Input"]) == 0 || !c.verifier.config.Signatures {
		return nil, claim.Result{}
	}
	r, err := newReading(m)
	if err != nil {
		return nil, claim.Result{State: claim.Unverified, Reason: claim.SignatureTooLong}
	}
	inputs, err := r.inputs()
	if err != nil {
		return nil, claim.Result{State: claim.Unverified, Reason: reasonFor(err, claim.SignatureMalformed)}
	}
	reason := claim.NoReason
	for _, in := range inputs {
		row, why := c.checkSignature(r, in, named, now)
		if row != nil {
			return row, claim.Result{State: claim.Verified, Method: claim.SignatureMethod}
		}
		reason = cmp.Or(reason, why)
		if why == claim.SignatureWrong || why == claim.SignatureReplayed {
			break // a check by a key is the dearest step: one for each request
		}
	}
	if reason == claim.NoReason {
		return nil, claim.Result{} // there are only signatures of another kind
	}
	return nil, claim.Result{State: claim.Unverified, Reason: reason}
}

// reasonFor returns SignatureTooLong for errTooLong, and other for another error.
func reasonFor(err error, other claim.Reason) claim.Reason {
	if errors.Is(err, errTooLong) {
		return claim.SignatureTooLong
	}
	return other
}

// checkSignature checks one signature. The fastest checks come first.
func (c *Checker) checkSignature(r *reading, in *signatureInput, named *crawler.Crawler, now time.Time) (*crawler.Crawler, claim.Reason) {
	if why := in.checkTimes(now); why != claim.NoReason {
		return nil, why
	}
	if !in.covers("@authority") && !in.covers("@target-uri") {
		return nil, claim.SignatureNotCovered
	}
	if r.HasBody && slices.ContainsFunc(in.list.Items, func(item httpsfv.Item) bool { return item.Value == "content-digest" }) {
		return nil, claim.SignatureUnsupported // this package does not read the body
	}
	agents, why := c.signatureAgents(r, in, named)
	if why != claim.NoReason {
		return nil, why
	}
	why = claim.DirectoryMissing
	for _, a := range agents {
		h := a.source.Copy()
		if h == nil {
			continue
		}
		k := h.Value.(*directory).find(in.keyID, h.Read(), now)
		if k == nil {
			why = claim.KeyUnknown
			continue
		}
		if in.algorithm != "" && in.algorithm != string(k.algorithm) {
			return nil, claim.SignatureUnsupported
		}
		base, err := signatureBase(in.list, r.component)
		if err != nil {
			return nil, reasonFor(err, claim.SignatureUnsupported)
		}
		if !k.verify(base, in.signature) {
			return nil, claim.SignatureWrong
		}
		if in.nonce != "" && !c.verifier.firstUse(k.thumbprint, in.nonce, in.expires, now) {
			return nil, claim.SignatureReplayed
		}
		return a.row(named), claim.NoReason
	}
	return nil, why
}

// agent is a directory of keys and the crawlers that sign with them.
type agent struct {
	source *source
	rows   []*crawler.Crawler // at least one
}

// row returns the crawler that a signature with a key of the directory proves: named if it is one of them, else the first.
func (a *agent) row(named *crawler.Crawler) *crawler.Crawler {
	if named != nil && slices.Contains(a.rows, named) {
		return named
	}
	return a.rows[0]
}

// signatureAgents returns the agents whose directories can have the key of a signature. If the request has the field Signature-Agent, that
// is the one that the field names, and the signature must cover the field. Otherwise they are the agents of named. Only directories that
// the registry or the configuration names are returned, so a client can't make the server fetch a URL.
func (c *Checker) signatureAgents(r *reading, in *signatureInput, named *crawler.Crawler) ([]*agent, claim.Reason) {
	if len(r.Header["Signature-Agent"]) == 0 {
		s := c.subject(named)
		if s == nil || len(s.agents) == 0 {
			return nil, claim.DirectoryUnknown
		}
		return s.agents, claim.NoReason
	}
	address, why := coveredAgent(r, in)
	if why != claim.NoReason {
		return nil, why
	}
	a := c.agents[address]
	if a == nil {
		return nil, claim.DirectoryUnknown
	}
	return []*agent{a}, claim.NoReason
}

// coveredAgent returns the URL of the directory in the part of Signature-Agent that the signature covers. The field is a dictionary, and
// the signature covers one member or the whole field. In older drafts the field is a string.
func coveredAgent(r *reading, in *signatureInput) (string, claim.Reason) {
	if fields := r.Header["Signature-Agent"]; strings.HasPrefix(strings.TrimLeft(fields[0], " "), `"`) {
		item, err := httpsfv.UnmarshalItem(fields)
		if err != nil {
			return "", claim.SignatureMalformed
		}
		if !in.covers("signature-agent") {
			return "", claim.SignatureNotCovered
		}
		return agentURL(item)
	}
	members, err := r.dictionary("signature-agent")
	if err != nil {
		return "", reasonFor(err, claim.SignatureMalformed)
	}
	key, ok := coveredMember(members.Names(), in)
	if !ok {
		return "", claim.SignatureNotCovered
	}
	member, _ := members.Get(key)
	item, ok := member.(httpsfv.Item)
	if !ok {
		return "", claim.SignatureMalformed
	}
	return agentURL(item)
}

// coveredMember returns the key of the member of Signature-Agent that counts for the signature. The candidates are the members in the
// component's parameter `key`, or all members if the signature covers the whole field. It returns the one with the label of the signature,
// else the only one. It returns false if there is none, or several without that label.
func coveredMember(keys []string, in *signatureInput) (string, bool) {
	var covered []string
	for _, item := range in.list.Items {
		if item.Value != "signature-agent" {
			continue
		}
		value, _ := item.Params.Get("key")
		if key, ok := value.(string); ok && slices.Contains(keys, key) {
			covered = append(covered, key)
		}
	}
	if in.covers("signature-agent") {
		covered = keys
	}
	switch {
	case slices.Contains(covered, in.label):
		return in.label, true
	case len(covered) == 1:
		return covered[0], true
	}
	return "", false
}

// agentURL returns the URL of the keys of a Signature-Agent: the value itself or, of an origin without a path, its well-known URL.
func agentURL(item httpsfv.Item) (string, claim.Reason) {
	text, _ := item.Value.(string)
	u, err := document.ParseOpenURL(text)
	if err != nil {
		return "", claim.SignatureMalformed
	}
	return directoryURL(u), claim.NoReason
}

// maxNonces is the number of nonces that a Verifier can store.
const maxNonces = 65_536

// firstUse reports whether the nonce was not used before with the key of that thumbprint, and stores it until the signature expires. If
// there is no room, it drops a nonce whose signature expires soon. expires is in seconds since 1970.
func (v *Verifier) firstUse(thumbprint, nonce string, expires int64, now time.Time) bool {
	used := v.nonces.Add(maphash.String(v.answers.seed, thumbprint+"\x00"+nonce), (*atomic.Int64).Load, nil)
	before := used.Load()
	return before <= now.Unix() && used.CompareAndSwap(before, expires)
}

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

// inputs returns the signatures of the message that have signatureTag, at most maxSignatures. It returns an error, and no signatures, if a field
// is malformed.
func (r *reading) inputs() ([]*signatureInput, error) {
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
		if !ok || param[string](list, "tag") != signatureTag {
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
			label: label, list: list, signature: octets, created: param[int64](list, "created"), expires: param[int64](list, "expires"),
			keyID: param[string](list, "keyid"), algorithm: param[string](list, "alg"), nonce: param[string](list, "nonce"),
		})
		if len(inputs) == maxSignatures {
			break
		}
	}
	return inputs, nil
}

// checkTimes returns what is wrong with created, expires or keyid, which are all required; NoReason if they are valid.
func (in *signatureInput) checkTimes(now time.Time) claim.Reason {
	switch {
	case in.created <= 0 || in.expires <= 0 || in.keyID == "" || in.expires <= in.created:
		return claim.SignatureMalformed
	case in.created > now.Add(clockSkew).Unix():
		return claim.SignatureFromFuture
	case in.expires <= now.Unix():
		return claim.SignatureExpired
	}
	return claim.NoReason
}

// covers reports whether the signature covers the component id without parameters.
func (in *signatureInput) covers(id string) bool {
	return slices.ContainsFunc(in.list.Items, func(item httpsfv.Item) bool { return item.Value == id && len(item.Params.Names()) == 0 })
}

// param returns a parameter of a type, the zero value if there is none.
func param[T string | int64](list httpsfv.InnerList, name string) T {
	any, _ := list.Params.Get(name)
	value, _ := any.(T)
	return value
}
