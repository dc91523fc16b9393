package verify

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/dunglas/httpsfv"
)

// signatureTag is the tag of Web Bot Auth signatures (draft-ietf-webbotauth-httpsig-protocol).
const signatureTag = "web-bot-auth"

// Signed reports whether m has signature fields. It only looks them up in a
// map. Call Checker.Signature only for requests that have them.
func Signed(m *Message) bool { return len(m.Header["Signature-Input"]) > 0 }

// Signature checks the Web Bot Auth signatures of m and returns the crawler that one of them proves, whatever the User-Agent says. claim is
// the crawler that the User-Agent names, nil without one: where a signature names no directory, those of claim are searched, and where
// several crawlers share a directory, claim is preferred.
//
// The result is Verified with the crawler, Unverified with nil and the reason, or the zero Result for a request without such a signature.
// It is never Impostor: an invalid signature neither confirms nor refutes a claim. Call it once per request: a second call reports a
// replay.
func (c *Checker) Signature(m *Message, claim *crawler.Crawler, now time.Time) (*crawler.Crawler, Result) {
	if !Signed(m) || !c.verifier.config.Signatures {
		return nil, Result{}
	}
	if fieldsSize(m.Header) > maxSignatureFields {
		return nil, Result{State: Unverified, Reason: SignatureTooLong}
	}
	inputs, err := readInputs(m.Header, signatureTag)
	if err != nil {
		return nil, Result{State: Unverified, Reason: SignatureMalformed}
	}
	reason := NoReason
	for _, in := range inputs {
		row, why := c.checkSignature(m, in, claim, now)
		if row != nil {
			return row, Result{State: Verified, Method: SignatureMethod}
		}
		if reason == NoReason {
			reason = why
		}
	}
	if reason == NoReason {
		return nil, Result{} // signatures of another kind
	}
	return nil, Result{State: Unverified, Reason: reason}
}

// checkSignature checks one signature. What costs least comes first.
func (c *Checker) checkSignature(m *Message, in *input, claim *crawler.Crawler, now time.Time) (*crawler.Crawler, Reason) {
	if why := in.checkTimes(now); why != NoReason {
		return nil, why
	}
	if !in.covers("@authority") && !in.covers("@target-uri") {
		return nil, SignatureNotCovered
	}
	if in.coversDigest() && (m.HasBody || checkDigest(m.Header, nil) != nil) {
		return nil, SignatureUnsupported // the body is not read
	}
	agents, why := c.signatureAgents(m, in, claim)
	if why != NoReason {
		return nil, why
	}
	why = DirectoryMissing
	for _, a := range agents {
		h := a.source.current.Load()
		if h == nil {
			continue
		}
		k := h.value.find(in.keyID, h.info.Read, now)
		if k == nil {
			why = KeyUnknown
			continue
		}
		if in.algorithm != "" && in.algorithm != string(k.algorithm) {
			return nil, SignatureUnsupported
		}
		base, err := signatureBase(in.list, m.component)
		if err != nil {
			return nil, SignatureUnsupported
		}
		if !k.verify(base, in.signature) {
			return nil, SignatureWrong
		}
		if in.nonce != "" && !c.verifier.replays.first(k.thumbprint, in.nonce, in.expires, now) {
			return nil, SignatureReplayed
		}
		return a.row(claim), NoReason
	}
	return nil, why
}

// agent is a directory with the crawlers whose keys it holds.
type agent struct {
	source *source[*directory]
	rows   []*crawler.Crawler
}

// row returns the crawler that a key of the directory proves.
func (a *agent) row(claim *crawler.Crawler) *crawler.Crawler {
	if claim != nil && slices.Contains(a.rows, claim) {
		return claim
	}
	return a.rows[0]
}

// signatureAgents returns the directories that can have the key of a signature: the one that Signature-Agent names, which the signature must
// cover, or those of claim where the field is absent. Only directories of the registry and the configuration are found.
func (c *Checker) signatureAgents(m *Message, in *input, claim *crawler.Crawler) ([]*agent, Reason) {
	fields := m.Header["Signature-Agent"]
	if len(fields) == 0 {
		s := c.subject(claim)
		if s == nil || len(s.agents) == 0 {
			return nil, DirectoryUnknown
		}
		return s.agents, NoReason
	}
	address, why := coveredAgent(fields, in)
	if why != NoReason {
		return nil, why
	}
	a := c.agents[address]
	if a == nil {
		return nil, DirectoryUnknown
	}
	return []*agent{a}, NoReason
}

// coveredAgent returns the address of the directory that the signature covers. Signature-Agent is a dictionary, whose member is covered
// alone or with the whole field, or a single string, as older drafts had it.
func coveredAgent(fields []string, in *input) (string, Reason) {
	if strings.HasPrefix(strings.TrimLeft(fields[0], " "), `"`) {
		item, err := httpsfv.UnmarshalItem(fields)
		if err != nil {
			return "", SignatureMalformed
		}
		if !in.covers("signature-agent") {
			return "", SignatureNotCovered
		}
		return agentURL(item)
	}
	members, err := httpsfv.UnmarshalDictionary(fields)
	if err != nil || checkLabels(fields) != nil {
		return "", SignatureMalformed
	}
	key, ok := coveredMember(members.Names(), in)
	if !ok {
		return "", SignatureNotCovered
	}
	member, _ := members.Get(key)
	item, ok := member.(httpsfv.Item)
	if !ok {
		return "", SignatureMalformed
	}
	return agentURL(item)
}

// coveredMember returns the key of the member that the signature covers: the one named by the component's parameter key, first the one
// with the label of the signature, or where the whole field is covered the one with the label, or the only one.
func coveredMember(keys []string, in *input) (string, bool) {
	var covered []string
	for _, item := range in.list.Items {
		if item.Value != "signature-agent" || item.Params == nil {
			continue
		}
		if value, _ := item.Params.Get("key"); value != nil {
			if key, ok := value.(string); ok && slices.Contains(keys, key) {
				covered = append(covered, key)
			}
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

// agentURL returns where the keys of a Signature-Agent are. The type directory, which is the default, wants an origin; jwks_uri names the
// document itself.
func agentURL(item httpsfv.Item) (string, Reason) {
	text, ok := item.Value.(string)
	if !ok {
		return "", SignatureMalformed
	}
	u, err := url.Parse(text)
	if err != nil || CheckURL(text) != nil {
		return "", SignatureMalformed
	}
	kind := httpsfv.Token("directory")
	if value, _ := item.Params.Get("type"); value != nil {
		if kind, ok = value.(httpsfv.Token); !ok {
			return "", SignatureMalformed
		}
	}
	origin := (u.Path == "" || u.Path == "/") && u.RawQuery == "" && !u.ForceQuery
	if kind != "directory" && kind != "jwks_uri" {
		return "", SignatureUnsupported
	}
	if origin != (kind == "directory") {
		return "", SignatureMalformed
	}
	address, err := directoryURL(text)
	if err != nil {
		return "", SignatureMalformed
	}
	return address, NoReason
}
