package suspect

import "strings"

// contradicts reports whether the value of Sec-CH-UA, a list such as
//
//	"Chromium";v="131", "Google Chrome";v="131", "Not_A Brand";v="24"
//
// contradicts the browser that the User-Agent names. Browsers of this engine
// have Chromium's version under the brand Chromium; the names and versions of
// other brands are left to them. Platform and mobile hints are not compared:
// telephones that ask for a desktop's page contradict themselves in them.
func (b Browser) contradicts(hints string) bool {
	if hints == "" {
		return false
	}
	if b.engine == 0 {
		return true // Firefox and Safari do not have the field
	}
	if strings.Contains(hints, "Headless") {
		return true
	}
	_, after, found := strings.Cut(hints, `"Chromium";v="`)
	if !found {
		return false
	}
	major, _, rest := version(after)
	return strings.HasPrefix(rest, `"`) && major != b.engine
}
