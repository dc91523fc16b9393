package suspect

import (
	"crypto/subtle"
	"encoding/base64"
	"net/netip"
	"strings"
	"time"
)

// buttonLife is the least time for which the token of a button is valid.
const buttonLife = time.Hour

// buttonSize is the length of a button's token in octets.
const buttonSize = 16

// Button returns a token for the button on the page that refuses a suspect's
// request. A person presses the button to read the page in spite of the refusal. If
// Pressed accepts the token, the caller should set a cookie, because See ignores
// requests with a Cookie. The token is valid for at least one hour and at most two,
// and only for the same Network, User-Agent and site. A form on another site cannot
// know it.
func (k *Key) Button(site string, client netip.Addr, userAgent string, now time.Time) string {
	return k.button(site, client, userAgent, hour(now))
}

func (k *Key) button(site string, client netip.Addr, userAgent string, hour uint64) string {
	sum := k.sign(forButton, hour, Network(client), site, userAgent)
	return base64.RawURLEncoding.EncodeToString(sum[:buttonSize])
}

// Pressed reports whether a token is still valid, and whether Button returned it for
// the Network of this address, this User-Agent and this site.
func (k *Key) Pressed(token, site string, client netip.Addr, userAgent string, now time.Time) bool {
	if len(token) != base64.RawURLEncoding.EncodedLen(buttonSize) || strings.ContainsAny(token, "\r\n") {
		return false
	}
	for _, h := range [...]uint64{hour(now), hour(now) - 1} {
		if subtle.ConstantTimeCompare([]byte(token), []byte(k.button(site, client, userAgent, h))) == 1 {
			return true
		}
	}
	return false
}

func hour(now time.Time) uint64 { return uint64(now.Unix()) / uint64(buttonLife/time.Second) }
