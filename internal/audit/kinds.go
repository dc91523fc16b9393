package audit

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// requestKind says what a request is for.
type requestKind uint8

const (
	unknownKind  requestKind = iota // only the path says it
	otherKind                       // neither of the two below: data that scripts load, a prefetch
	documentKind                    // a page, or another document that somebody opens
	embeddedKind                    // a file that a page embeds: an image, a style, a script, a font
)

// kindOfMedia returns the kind of a request by the Content-Type of its response; unknownKind
// if that says nothing.
func kindOfMedia(contentType string) requestKind {
	if strings.HasPrefix(contentType, "text/html") { // most
		return documentKind
	}
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	top, sub, _ := strings.Cut(media, "/")
	switch {
	case sub == "" || sub == "octet-stream":
		return unknownKind
	case top == "image", top == "font", top == "audio", top == "video", sub == "css", strings.Contains(sub, "javascript"),
		strings.Contains(sub, "font"):
		return embeddedKind
	case sub == "xhtml+xml":
		return documentKind
	case strings.Contains(sub, "json"), strings.HasSuffix(sub, "xml"), sub == "wasm", sub == "event-stream":
		return otherKind
	}
	return documentKind
}

// kindOfExtension returns the kind that a name extension hints at.
func kindOfExtension(ext string) requestKind {
	switch strings.ToLower(ext) {
	case "css", "js", "mjs", "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "woff", "woff2", "ttf", "otf", "eot",
		"mp3", "mp4", "webm", "ogg":
		return embeddedKind
	case "json", "xml", "rss", "atom", "txt", "map", "wasm", "webmanifest":
		return otherKind
	}
	return documentKind
}

// kindOf returns what a request with a browser's User-Agent is for: by Sec-Fetch-Dest, the
// Content-Type of its response, or else its name extension.
func kindOf(e *logformat.Entry) requestKind {
	if e.Dest != "" {
		if e.Dest == "document" {
			return documentKind
		}
		return embeddedKind
	}
	if judge.IsRobotsTxt(e.Target) {
		return otherKind
	}
	if media := e.ContentType(); media != "" && (e.Status == 0 || e.Status/100 == 2) {
		if kind := kindOfMedia(media); kind != unknownKind {
			return kind
		}
	}
	path, _, _ := strings.Cut(e.Target, "?")
	if strings.HasPrefix(path, "/.well-known/") {
		return otherKind
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return documentKind
	}
	return kindOfExtension(name[dot+1:])
}
