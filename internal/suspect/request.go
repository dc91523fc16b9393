package suspect

import (
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// Request is a request with the User-Agent of a browser, as Watch.See needs it.
type Request struct {
	// Site is the host of the request, and Port the port that distinguishes two
	// origins of one host; 0 if there is only one. Visitors of one site are
	// independent of those of another.
	Site string
	Port uint16

	// Client is the address of the client. See ignores requests with an invalid
	// one.
	Client netip.Addr
	// Connection identifies the connection: the remote address with its port. It
	// must be empty behind a proxy, which sends the requests of many people over
	// one connection.
	Connection string

	Method    string // "" means GET
	Target    string // the request target: path and query
	UserAgent string
	Header    http.Header // See reads Cookie, Sec-Fetch-*, Sec-CH-UA and the fields of prefetches
	// Secure is true for requests over HTTPS, even if only a trusted proxy says so.
	Secure bool
	// RobotsTxt is true for requests for /robots.txt.
	RobotsTxt bool
	// Trap is the result of Trap.Hit for the target.
	Trap Hit
	Time time.Time
}

// fetchFields says which Sec-Fetch-* fields a request has.
type fetchFields uint8

const (
	noFetchFields   fetchFields = iota
	someFetchFields             // fewer than a browser sends, or one of them twice
	allFetchFields              // Sec-Fetch-Site, -Mode and -Dest, once each
)

// traits are what the fields of a request show.
type traits struct {
	fields fetchFields
	kind   Kind // Unknown if only the path says it
	// page is true if the browser may show the answer as a page. Then it can be
	// refused with an explanation.
	page bool
}

// traits reads the fields of a request. A request that another site's page caused,
// or that the browser sends before the user asks for the page, is not a document.
func (r *Request) traits() (t traits) {
	t.kind = Other
	if r.Method != "" && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return t
	}
	site, dest, mode := r.Header["Sec-Fetch-Site"], r.Header["Sec-Fetch-Dest"], r.Header["Sec-Fetch-Mode"]
	switch {
	case len(site) == 1 && len(dest) == 1 && len(mode) == 1:
		t.fields = allFetchFields
	case len(site)+len(dest)+len(mode)+len(r.Header["Sec-Fetch-User"]) > 0:
		t.fields = someFetchFields
	}
	if t.fields == allFetchFields {
		t.kind, t.page = kindOf(site[0], dest[0], mode[0])
	} else if t.page = true; sameOriginOrUser(site) {
		t.kind = Unknown
	}
	if r.isPrefetch() && t.kind != Embedded {
		t.kind = Other
	}
	return t
}

// sameOriginOrUser reports whether Sec-Fetch-Site, if it is there, says that a page
// of the same origin or the user caused the request.
func sameOriginOrUser(site []string) bool {
	return !slices.ContainsFunc(site, func(s string) bool { return s != "same-origin" && s != "none" })
}

// isPrefetch reports whether a browser or a tool fetches the page before the user
// asks for it.
func (r *Request) isPrefetch() bool {
	return len(r.Header["Sec-Purpose"]) > 0 || len(r.Header["Purpose"]) > 0 || len(r.Header["X-Moz"]) > 0
}

// kindOf returns the kind of a request with all Sec-Fetch-* fields. Only a
// navigation of the whole tab is a document, and only if a page of the same origin
// or the user (with the address bar or a bookmark) caused it.
func kindOf(site, dest, mode string) (k Kind, page bool) {
	here := site == "same-origin" || site == "none"
	switch dest {
	case "document":
		if here && mode == "navigate" {
			return Document, true
		}
		return Other, true
	case "image", "style", "script", "font", "audio", "video", "track", "manifest":
		if here || site == "same-site" {
			return Embedded, false
		}
	}
	return Other, false
}
