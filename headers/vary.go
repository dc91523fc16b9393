package headers

import (
	"net/http"
	"strings"
)

// AddVary adds the name of a request field, such as User-Agent, to the Vary
// field of h. It means that the response depends on that field (RFC 9110,
// section 12.5.5). AddVary adds nothing if Vary already has the name or is *.
// It does not modify the slices in h in place.
func AddVary(h http.Header, field string) {
	values := h["Vary"]
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			if name = trim(name); name == "*" || strings.EqualFold(name, field) {
				return
			}
		}
	}
	h["Vary"] = append(values[:len(values):len(values)], field)
}
