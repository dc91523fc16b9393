package federation

import (
	"mime"
	"net/http"
	"slices"
	"strings"
)

// maxAccept is how many octets of an Accept field are read.
const maxAccept = 2 << 10

// Asks reports whether a request is a signed GET or HEAD for an ActivityPub document.
// The signature is that of an HTTP client (draft-cavage-http-signatures, with the field
// Signature alone, or RFC 9421), and not that of a crawler (Web Bot Auth).
func Asks(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !isSigned(r.Header) {
		return false
	}
	return slices.ContainsFunc(r.Header["Accept"], accepts)
}

// isSigned reports whether a request has a signature that is no crawler's.
func isSigned(header http.Header) bool {
	inputs := header["Signature-Input"]
	if slices.ContainsFunc(inputs, func(input string) bool { return strings.Contains(input, "web-bot-auth") }) {
		return false
	}
	filled := func(value string) bool { return strings.TrimSpace(value) != "" }
	return slices.ContainsFunc(inputs, filled) || slices.ContainsFunc(header["Signature"], filled)
}

// accepts reports whether an Accept field has the media type of an ActivityPub
// document, with a weight above 0.
func accepts(field string) bool {
	field = field[:min(len(field), maxAccept)]
	for field != "" {
		end := rangeEnd(field)
		media, params, err := mime.ParseMediaType(field[:end])
		if q, weighted := params["q"]; err == nil && isDocument(media) && !(weighted && strings.Trim(q, "0.") == "") {
			return true
		}
		field = strings.TrimPrefix(field[end:], ",")
	}
	return false
}

// rangeEnd returns the index of the first comma in an Accept field that is not in
// quotes, or the field's length.
func rangeEnd(field string) int {
	quoted := false
	for i := 0; i < len(field); i++ {
		switch c := field[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			return i
		}
	}
	return len(field)
}

// isDocument reports whether a media type is that of an ActivityPub document (W3C
// ActivityPub, section 3.2).
func isDocument(media string) bool {
	return strings.EqualFold(media, "application/activity+json") || strings.EqualFold(media, "application/ld+json")
}
