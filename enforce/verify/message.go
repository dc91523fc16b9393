package verify

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// maxComponents is the maximum number of components that a signature covers.
const maxComponents = 32

var (
	errComponent = errors.New("the component can't be checked")
	errTooLong   = errors.New("the signature or what it covers is too long")
)

// signatureBase returns the octets that a signature signs (RFC 9421, section 2.5). value must return the value of a component.
func signatureBase(input httpsfv.InnerList, value func(httpsfv.Item) (string, error)) ([]byte, error) {
	var base strings.Builder
	seen := make(map[string]bool, len(input.Items))
	for _, item := range input.Items {
		id, err := httpsfv.Marshal(item)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			return nil, fmt.Errorf("%s is covered twice", id)
		}
		seen[id] = true
		v, err := value(item)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		if strings.ContainsAny(v, "\r\n") {
			return nil, fmt.Errorf("%s: the value has a line break", id)
		}
		base.WriteString(id + ": " + v + "\n")
	}
	params, err := httpsfv.Marshal(input)
	if err != nil {
		return nil, err
	}
	base.WriteString(`"@signature-params": ` + params)
	return []byte(base.String()), nil
}

// component returns the value of a component of the message (RFC 9421, section 2).
func (r *reading) component(item httpsfv.Item) (string, error) {
	id, ok := item.Value.(string)
	if !ok || id != strings.ToLower(id) {
		return "", errComponent
	}
	names := item.Params.Names()
	if !strings.HasPrefix(id, "@") {
		return r.field(id, item, names)
	}
	if len(names) > 0 {
		return "", errComponent
	}
	target := originForm(r.RequestURI)
	path, query, _ := strings.Cut(target, "?")
	switch id {
	case "@method":
		return r.Method, nil
	case "@authority":
		return r.authority(), nil
	case "@scheme":
		return r.Scheme, nil
	case "@target-uri":
		return r.Scheme + "://" + r.authority() + target, nil
	case "@request-target":
		return r.RequestURI, nil
	case "@path":
		return path, nil
	case "@query":
		return "?" + query, nil
	}
	return "", errComponent
}

// originForm returns the path and the query of a request target in origin form or absolute form.
func originForm(target string) string {
	if target = canonical.OriginForm(target); strings.HasPrefix(target, "/") {
		return target
	}
	return "/" + target
}

// authority returns the host in lower case, without the default port of the scheme (RFC 9421, section 2.2.3).
func (r *reading) authority() string { return withoutDefaultPort(r.Scheme, strings.ToLower(r.Host)) }

func withoutDefaultPort(scheme, host string) string {
	if scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// field returns the value of a header field, or of one member of it if the component has the parameter `key` (RFC 9421, sections 2.1 and
// 2.1.2).
func (r *reading) field(id string, item httpsfv.Item, params []string) (string, error) {
	if len(params) == 0 {
		return fieldValue(r.lines(id))
	}
	value, _ := item.Params.Get("key")
	key, ok := value.(string)
	if !ok || len(params) > 1 {
		return "", errComponent
	}
	fields, err := r.dictionary(id)
	if err != nil {
		return "", err
	}
	member, ok := fields.Get(key)
	if !ok {
		return "", fmt.Errorf("the field has no member %.50q", key)
	}
	return httpsfv.Marshal(member)
}

// fieldValue returns the value of a field with these lines.
func fieldValue(lines []string) (string, error) {
	if len(lines) == 0 {
		return "", errors.New("the message does not have the field")
	}
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimSpace(line)
	}
	return strings.Join(trimmed, ", "), nil
}

// Limits of one check of the signatures of a message.
const (
	maxOctets = 16 << 10 // of the target and all fields
	maxParts  = 1024     // members, items and parameters of the fields that are parsed
)

// reading is one check of the signatures of a message. However many components
// name parts of a field, it is parsed once.
type reading struct {
	*claim.Message
	parts        int                            // parsed so far
	dictionaries map[string]*httpsfv.Dictionary // by the field's name in lower case; nil: malformed or too long
}

// newReading returns errTooLong for a message with more than maxOctets.
func newReading(m *claim.Message) (*reading, error) {
	octets := len(m.Host) + len(m.RequestURI)
	for _, lines := range m.Header {
		for _, line := range lines {
			octets += len(line) + len(", ")
			if octets > maxOctets {
				return nil, errTooLong
			}
		}
	}
	return &reading{Message: m, dictionaries: make(map[string]*httpsfv.Dictionary)}, nil
}

// lines returns the lines of a field. name is in lower case.
func (r *reading) lines(name string) []string {
	if name == "host" {
		return []string{r.Host}
	}
	return r.Header[http.CanonicalHeaderKey(name)]
}

// dictionary returns the members of a dictionary field. name is in lower case.
func (r *reading) dictionary(name string) (*httpsfv.Dictionary, error) {
	if dictionary, known := r.dictionaries[name]; dictionary != nil {
		return dictionary, nil
	} else if known {
		return nil, errComponent
	}
	r.dictionaries[name] = nil
	lines := r.lines(name)
	for _, line := range lines {
		for _, separator := range [...]string{",", ";", "&", " "} {
			r.parts += strings.Count(line, separator)
		}
	}
	if r.parts > maxParts {
		return nil, errTooLong
	}
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil, err
	}
	r.dictionaries[name] = dictionary
	return dictionary, nil
}
