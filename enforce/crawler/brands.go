package crawler

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// Brand returns the first token of the registry that is a brand in a Sec-CH-UA field, and the rest of the field. Some crawlers can change
// their User-Agent, but not that field. Tokens that apps send too don't count, so no browser of people has one. The token is "" if there
// is no further one in the first [MaxUserAgent] octets. Brand allocates nothing.
func (r *Registry) Brand(field string) (token, rest string) {
	field = field[:min(len(field), MaxUserAgent)]
	for field != "" {
		var brand [maxTokenSize]byte
		n := 0
		quoted, inBrand := false, true // a list of strings with parameters (RFC 8941, section 3.1)
		i := 0
		for ; i < len(field) && (quoted || field[i] != ','); i++ {
			c := field[i]
			switch {
			case c == '"':
				quoted = !quoted
				continue
			case c == '\\' && quoted && i+1 < len(field):
				i++
				c = field[i]
			case !quoted && c == ';':
				inBrand = false
			case !quoted && (c == ' ' || c == '\t'):
				continue
			}
			if inBrand {
				if n < len(brand) {
					brand[n] = canonical.LowerOctet(c)
				}
				n++
			}
		}
		field = field[min(len(field), i+1):]
		if n <= len(brand) {
			if row := r.byUA[string(brand[:n])]; row != nil {
				if token := row.ownToken(brand[:n]); token != "" {
					return token, field
				}
			}
		}
	}
	return "", ""
}

// ownToken returns the User-Agent token that is text in lower case; "" if apps send it too.
func (c *Crawler) ownToken(text []byte) string {
	for i, tokens := range [...][]string{c.UserAgents, c.Shared} {
		for _, token := range tokens {
			if c.Class != App && len(token) == len(text) && strings.EqualFold(token, string(text)) && (i == 0 || parts(token)&roleCrawlerWord != 0) {
				return token
			}
		}
	}
	return ""
}
