package suspect

import (
	"crypto/subtle"
	"encoding/base64"
	"net/netip"
	"strings"
	"time"
)

// buttonLife is for how long the button of a refusal can be pressed at least.
const buttonLife = time.Hour

// buttonSize is how many octets the token of a button has.
const buttonSize = 16

// Button returns a token for the button of a refusal. It is good for the same
// address and User-Agent at the same site, for one to two hours: a form of
// another site can't have it.
func (k *Key) Button(site string, client netip.Addr, userAgent string, now time.Time) string {
	return k.button(site, client, userAgent, hour(now))
}

func (k *Key) button(site string, client netip.Addr, userAgent string, hour uint64) string {
	sum := k.sign(forButton, hour, Network(client), site, userAgent)
	return base64.RawURLEncoding.EncodeToString(sum[:buttonSize])
}

// Pressed reports whether a token is that of a button which this client was
// given lately.
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
