package suspect

import "strings"

// contradicts reports whether the value of Sec-CH-UA, a list such as
//
//	"Chromium";v="131", "Google Chrome";v="131", "Not_A Brand";v="24"
//
// contradicts the browser that the User-Agent names. All browsers with the Chromium
// engine send its version under the brand Chromium. Other brands are not compared:
// their names and versions may be anything. Sec-CH-UA-Platform and -Mobile are not
// compared either: telephones that request the desktop version of a page send
// values there that contradict the User-Agent.
func (b Browser) contradicts(hints string) bool {
	if hints == "" {
		return false
	}
	if b.engine == 0 {
		return true // Firefox and Safari do not send the field
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
