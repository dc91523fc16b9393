package headers

import (
	"net/http"
	"strings"
)

// AddVary says in h that the response differs by a field of the request, such
// as User-Agent (RFC 9110, section 12.5.5). It adds nothing where a Vary field
// of h names the field already, or is *. The values of h are not modified in
// place.
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
