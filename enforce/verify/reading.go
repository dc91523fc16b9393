package verify

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Limits of one check of the signatures of a message.
const (
	maxOctets = 16 << 10 // of the fields and the query that are parsed, all together; and of a signature base
	maxParts  = 1024     // members, items and parameters of these fields and the query
)

// reading is one check of the signatures of a message. However many components
// name parts of a field or of the query, it is parsed once.
type reading struct {
	*Message
	octets, parts int                            // parsed so far
	dictionaries  map[string]*httpsfv.Dictionary // by the field's name in lower case; nil: malformed or too long
	query         url.Values
}

func newReading(m *Message) *reading {
	return &reading{Message: m, dictionaries: make(map[string]*httpsfv.Dictionary)}
}

// parse counts the octets and parts of lines that are about to be parsed. It returns errTooLong if there are too many.
func (r *reading) parse(lines []string) error {
	if r.octets += joinedLength(lines); r.octets > maxOctets {
		return errTooLong
	}
	for _, line := range lines {
		for _, separator := range [...]string{",", ";", "&", " "} {
			r.parts += strings.Count(line, separator)
		}
	}
	if r.parts > maxParts {
		return errTooLong
	}
	return nil
}

// joinedLength returns the number of octets that lines of a field have together, with separators. It stops at maxOctets.
func joinedLength(lines []string) (n int) {
	for _, line := range lines {
		if n += len(line) + len(", "); n > maxOctets {
			break
		}
	}
	return n
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
	if members, known := r.dictionaries[name]; members != nil {
		return members, nil
	} else if known {
		return nil, errComponent
	}
	r.dictionaries[name] = nil
	lines := r.lines(name)
	if err := r.parse(lines); err != nil {
		return nil, err
	}
	if err := checkLabels(lines); err != nil {
		return nil, err
	}
	members, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil, err
	}
	r.dictionaries[name] = members
	return members, nil
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
