package challenge

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// What the fields of a request say of it. Any client can send them: they only choose
// among answers, and protect people from what other sites cause.

// destination returns what a browser says that a request is for; "" if it does not say.
func destination(r *http.Request) string { return strings.Join(r.Header["Sec-Fetch-Dest"], ",") }

// accepts reports whether the field Accept names one of some media types.
func accepts(r *http.Request, types ...string) bool {
	accept := strings.ToLower(strings.Join(r.Header["Accept"], ","))
	return slices.ContainsFunc(types, func(media string) bool { return strings.Contains(accept, media) })
}

// isFrom reports whether one of some sites caused a request, as far as the browser says.
func isFrom(r *http.Request, sites ...string) bool {
	site := strings.Join(r.Header["Sec-Fetch-Site"], ",")
	return site == "" || slices.Contains(sites, site)
}

// wants reports whether a request is for a destination, as far as a browser says, or for a media type
// in the place of that. A program that takes anything wants nothing.
func wants(r *http.Request, dest, media string) bool {
	said := destination(r)
	return said == dest || said == "" && accepts(r, media)
}

// opensPage reports whether a browser opens a page by a request.
func opensPage(r *http.Request) bool { return wants(r, "document", "html") }

// isForStyle reports whether a page of the same origin asks for a style sheet, as far as the
// browser says: no link and no image of another site gives anybody a pass.
func isForStyle(r *http.Request) bool {
	dest, site := destination(r), strings.Join(r.Header["Sec-Fetch-Site"], ",")
	return dest+site == "" || dest == "style" && site == "same-origin"
}

// takesHTML reports whether a client can show a page, as far as it says.
func takesHTML(r *http.Request) bool {
	switch destination(r) {
	case "image", "script", "style", "font", "audio", "video", "track":
		return false
	}
	return r.Header.Get("Accept") == "" || accepts(r, "text/html", "text/*", "*/*", "application/xhtml+xml")
}

// fetchFields returns how many of the fields a request has that a browser always sends together.
func fetchFields(r *http.Request) (n int) {
	for _, name := range [...]string{"Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"} {
		n += min(1, len(r.Header[name]))
	}
	return n
}

// isOpened reports whether the user, or a page of the same origin, has opened the URL, as
// far as the browser says.
func isOpened(r *http.Request) bool {
	isAhead := len(r.Header["Sec-Purpose"])+len(r.Header["Purpose"])+len(r.Header["X-Moz"]) > 0
	dest := destination(r)
	return !isAhead && (dest == "" || dest == "document") && isFrom(r, "same-origin", "none")
}

// isPreflight reports whether a browser asks whether a script of another origin may send a
// request. It can't have the cookie of its pass.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && len(r.Header["Origin"]) > 0 && len(r.Header["Access-Control-Request-Method"]) > 0
}

// proves reports whether a client that is served for such a request is known to the site: it
// has credentials, or changes something with what browsers send, or is a webhook.
func proves(q *judge.Request, r *http.Request, class crawler.Class) bool {
	return q.Authorized ||
		!q.Reads() && (class == crawler.Webhook || len(r.Header["Cookie"]) > 0 || len(r.Header["Sec-Fetch-Site"]) > 0)
}
