package verify

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Message is the part of a request that a signature can cover.
type Message struct {
	Method     string
	Scheme     string // http or https, as the client used
	Host       string // the Host field or :authority, as sent
	RequestURI string // path and query as the client sent them
	Header     http.Header
	HasBody    bool // the request has content, or may have
}

// maxComponents is the maximum number of components that a signature covers.
const maxComponents = 32

var errComponent = errors.New("the component can't be checked")

// signatureBase returns the octets that a signature signs (RFC 9421, section 2.5). value must return the value of a component.
func signatureBase(input httpsfv.InnerList, value func(httpsfv.Item) (string, error)) ([]byte, error) {
	if len(input.Items) > maxComponents {
		return nil, fmt.Errorf("%d components: the limit is %d", len(input.Items), maxComponents)
	}
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

// component returns the value of a component of m (RFC 9421, section 2).
func (m *Message) component(item httpsfv.Item) (string, error) {
	id, ok := item.Value.(string)
	if !ok || id != strings.ToLower(id) {
		return "", errComponent
	}
	var names []string
	if item.Params != nil {
		names = item.Params.Names()
	}
	if !strings.HasPrefix(id, "@") {
		return m.field(id, item, names)
	}
	if id == "@query-param" {
		return m.queryParam(item, names)
	}
	if len(names) > 0 {
		return "", errComponent
	}
	path, query, _ := strings.Cut(originForm(m.RequestURI), "?")
	switch id {
	case "@method":
		return m.Method, nil
	case "@authority":
		return m.authority(), nil
	case "@scheme":
		return m.Scheme, nil
	case "@target-uri":
		return m.Scheme + "://" + m.authority() + originForm(m.RequestURI), nil
	case "@request-target":
		return m.RequestURI, nil
	case "@path":
		return path, nil
	case "@query":
		return "?" + query, nil
	}
	return "", errComponent
}

// originForm returns the path and the query of a request target in origin form or absolute form.
func originForm(target string) string {
	if scheme := strings.Index(target, "://"); scheme > 0 && !strings.HasPrefix(target, "/") {
		target = target[scheme+3:]
		if at := strings.IndexAny(target, "/?"); at >= 0 {
			target = target[at:]
		} else {
			target = ""
		}
	}
	if target == "" || target[0] == '?' {
		return "/" + target
	}
	return target
}

// authority returns the host in lower case, without the default port of the scheme (RFC 9421, section 2.2.3).
func (m *Message) authority() string {
	host := strings.ToLower(m.Host)
	if m.Scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// field returns the value of a header field, or of one member of it if the component has the parameter `key` (RFC 9421, sections 2.1 and 2.1.2).
func (m *Message) field(id string, item httpsfv.Item, params []string) (string, error) {
	values := m.Header[http.CanonicalHeaderKey(id)]
	if id == "host" {
		values = []string{m.Host}
	}
	if len(values) == 0 {
		return "", errors.New("the message does not have the field")
	}
	switch len(params) {
	case 0:
		trimmed := make([]string, len(values))
		for i, v := range values {
			trimmed[i] = strings.TrimSpace(v)
		}
		return strings.Join(trimmed, ", "), nil
	case 1:
		if value, _ := item.Params.Get("key"); value != nil {
			if key, ok := value.(string); ok {
				return fieldMember(values, key)
			}
		}
	}
	return "", errComponent
}

// fieldMember returns the value of one member of a dictionary field.
func fieldMember(values []string, key string) (string, error) {
	dictionary, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return "", err
	}
	member, ok := dictionary.Get(key)
	if !ok {
		return "", fmt.Errorf("the field has no member %.50q", key)
	}
	switch member := member.(type) {
	case httpsfv.Item:
		return httpsfv.Marshal(member)
	case httpsfv.InnerList:
		return httpsfv.Marshal(member)
	}
	return "", errComponent
}

// queryParam returns the value of a query parameter (RFC 9421, section 2.2.8). It returns an error unless the query has the parameter once.
func (m *Message) queryParam(item httpsfv.Item, params []string) (string, error) {
	if len(params) != 1 {
		return "", errComponent
	}
	value, _ := item.Params.Get("name")
	encoded, ok := value.(string)
	if !ok {
		return "", errComponent
	}
	wanted, err := url.QueryUnescape(encoded)
	if err != nil {
		return "", err
	}
	_, query, _ := strings.Cut(originForm(m.RequestURI), "?")
	all, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	if len(all[wanted]) != 1 {
		return "", fmt.Errorf("the query has the parameter %d times, not once", len(all[wanted]))
	}
	return strings.ReplaceAll(url.QueryEscape(all[wanted][0]), "+", "%20"), nil
}
