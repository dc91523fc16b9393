package suspect

import (
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Request is what a Watch looks at of a request that says it is a person's.
type Request struct {
	// Site is the host that it is for. What a visitor does at one site says
	// nothing at another one.
	Site string
	Port uint16

	// Client is the address of the client. A zero address is not watched.
	Client netip.Addr
	// Connection tells connections apart: the remote address. It is empty
	// behind a proxy, which sends the requests of many people over one.
	Connection string

	Method    string // "" means GET
	Target    string // the request target: path and query
	UserAgent string
	Header    http.Header
	// Secure is set for requests over HTTPS, also where a trusted proxy says so.
	Secure bool
	// RobotsTxt is set for requests of /robots.txt.
	RobotsTxt bool
	// Trap is what the target has to do with a trap of the site.
	Trap Hit
	Time time.Time
}

// shape is how much a request says about what made the browser send it.
type shape uint8

const (
	bare    shape = iota // no Sec-Fetch-* field
	partial              // some of the fields that browsers send together
	full                 // Sec-Fetch-Site, -Mode and -Dest, once each
)

// kind is what a request is for.
type kind uint8

const (
	otherKind kind = iota
	document       // a page that its user asked for
	embedded       // a file that a page of the site embeds
)

// looks is what the fields of a request say.
type looks struct {
	shape shape
	kind  kind
	// page is set where the answer is shown as a page, or may be: such a
	// request can be refused with an explanation.
	page bool
}

// look reads the fields of a request. Nothing that another site's page, or a
// guess of the browser, made the browser send is a document.
func (r *Request) look() (l looks) {
	if r.Method != "" && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return l
	}
	site, dest, mode := r.Header["Sec-Fetch-Site"], r.Header["Sec-Fetch-Dest"], r.Header["Sec-Fetch-Mode"]
	switch {
	case len(site) == 1 && len(dest) == 1 && len(mode) == 1:
		l.shape = full
	case len(site)+len(dest)+len(mode)+len(r.Header["Sec-Fetch-User"]) > 0:
		l.shape = partial
	}
	if l.shape == full {
		l.kind, l.page = kindOf(site[0], dest[0], mode[0])
	} else if l.page = true; fromHere(site) {
		l.kind = kindOfTarget(r.Target)
	}
	if l.kind == document && r.ahead() {
		l.kind = otherKind
	}
	return l
}

// fromHere reports whether no value of Sec-Fetch-Site names another site.
func fromHere(site []string) bool {
	for _, s := range site {
		if s != "same-origin" && s != "none" {
			return false
		}
	}
	return true
}

// ahead reports whether a browser, or a tool, fetches the page before its user
// asks for it.
func (r *Request) ahead() bool {
	return len(r.Header["Sec-Purpose"]) > 0 || len(r.Header["Purpose"]) > 0 || len(r.Header["X-Moz"]) > 0
}

// kindOf tells what a request with all Sec-Fetch-* fields is for. Only a
// navigation of the whole tab is a document, and only from the same origin or
// from the user: an address, a bookmark.
func kindOf(site, dest, mode string) (k kind, page bool) {
	here := site == "same-origin" || site == "none"
	switch dest {
	case "document":
		if here && mode == "navigate" {
			return document, true
		}
		return otherKind, true
	case "image", "style", "script", "font", "audio", "video", "track", "manifest":
		if here || site == "same-site" {
			return embedded, false
		}
	}
	return otherKind, false
}

// kindOfTarget tells by the end of its path what a request without Sec-Fetch-*
// fields is for.
func kindOfTarget(target string) kind {
	path, _, _ := strings.Cut(target, "?")
	if strings.HasPrefix(path, "/.well-known/") {
		return otherKind
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return document
	}
	switch name[dot+1:] {
	case "html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "cgi":
		return document
	case "css", "js", "mjs", "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "woff", "woff2", "ttf", "otf", "mp3", "mp4", "webm", "ogg":
		return embedded
	}
	return otherKind
}
