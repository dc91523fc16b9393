package crawler

import (
	"fmt"
	"strings"
)

// sharedSuffixes are domains in which anybody can have a host, such as the
// customers of a cloud provider.
var sharedSuffixes = []string{"googleusercontent.com", "amazonaws.com", "cloudapp.azure.com", "in-addr.arpa", "ip6.arpa"}

// maxSuffix is the length of a domain at most, in octets (RFC 1035, section 2.3.4).
const maxSuffix = 255

// CheckSuffix returns an error if suffix is not valid as one of [Verify.Hosts]. It must
// be a domain like googlebot.com, but not a top-level domain or a domain such as
// amazonaws.com, in which any customer can have a host. A dot at its beginning or end is
// allowed.
func CheckSuffix(suffix string) error {
	s := strings.ToLower(strings.Trim(suffix, "."))
	switch {
	case s == "" || len(s) > maxSuffix || strings.ContainsAny(s, "/:*@ \t"):
		return fmt.Errorf("%q is not a domain: write one like googlebot.com", suffix)
	case !strings.Contains(s, "."):
		return fmt.Errorf("%q is a top-level domain, in which anybody can have a host name: write a domain like googlebot.com", suffix)
	}
	for _, shared := range sharedSuffixes {
		if strings.HasSuffix("."+s, "."+shared) {
			return fmt.Errorf("%q: anybody can have a host name under %s", suffix, shared)
		}
	}
	return nil
}
