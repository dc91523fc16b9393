// Package media tells the pages of a site from what they embed: by the Content-Type of an answer,
// else by the name of the file.
//
//	media.Of("text/html; charset=utf-8") // media.Page
//	media.OfTarget("/style.css?v=1")     // media.Embedded
package media

import (
	"path"
	"strings"
)

// Kind says what an answer is.
type Kind uint8

// The kinds.
const (
	Unknown  Kind = iota
	Page          // an HTML document
	Embedded      // what pages embed, but for icons: browsers fetch them without a page
	Other
)

// Of returns the kind of a Content-Type.
func Of(contentType string) Kind {
	kind := strings.ToLower(contentType)
	switch {
	case kind == "", strings.HasPrefix(kind, "multipart/byteranges"):
		return Unknown
	case strings.HasPrefix(kind, "text/html"), strings.HasPrefix(kind, "application/xhtml+xml"):
		return Page
	case strings.HasPrefix(kind, "image/") && !strings.Contains(kind, "icon"), strings.HasPrefix(kind, "text/css"),
		strings.HasPrefix(kind, "font/"), strings.HasPrefix(kind, "application/font"), strings.Contains(kind, "javascript"):
		return Embedded
	}
	return Other
}

// OfTarget returns the kind that the extension in a request target hints at. What has none is a page.
func OfTarget(target string) Kind {
	target, _, _ = strings.Cut(target, "?")
	name := target[strings.LastIndexByte(target, '/')+1:]
	switch strings.ToLower(path.Ext(name)) {
	case ".css", ".js", ".mjs", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".woff", ".woff2", ".ttf", ".otf", ".eot":
		if !strings.HasPrefix(name, "favicon") {
			return Embedded
		}
		return Other
	case ".ico", ".json", ".xml", ".rss", ".atom", ".txt", ".map", ".wasm", ".webmanifest", ".mp3", ".mp4", ".webm", ".ogg", ".pdf", ".zip", ".gz":
		return Other
	}
	return Page
}
