package dashboard

import (
	"crypto/rand"
	"embed"
	"encoding/base64"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"
)

//go:embed page.html style.css script/*.js uplot/*
var files embed.FS

// scripts has the files of the page's script, in the order of the script.
var scripts = []string{"dom", "state", "chart", "sites", "crawlers", "source", "denials", "panels", "banner", "next", "check", "main"}

// The parts of the page. The script is one function, so that it adds no global
// variables.
var (
	page  = sync.OnceValue(func() *template.Template { return template.Must(template.New("page.html").ParseFS(files, "page.html")) })
	style = sync.OnceValue(func() template.CSS {
		return template.CSS(text("uplot/uPlot.min.css") + "\n" + text("style.css"))
	})
	script = sync.OnceValue(func() template.JS {
		return template.JS(text("uplot/uPlot.iife.min.js") + "\n(() => {\n'use strict';\n" + joined(scripts) + "})();\n")
	})
)

// text returns the content of an embedded file.
func text(name string) string {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// joined returns the content of script files.
func joined(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(text("script/" + name + ".js"))
	}
	return b.String()
}

// SetHeaders sets the header fields that protect the page, its data and errors: no
// caching, no indexing, no frames and no other scripts.
func SetHeaders(header http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policyWith("'none'"),
		"Cache-Control":                "no-store",
		"X-Robots-Tag":                 "noindex, nofollow",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	} {
		header.Set(name, value)
	}
}

// policyWith returns the Content-Security-Policy of a page with a given source for
// styles and scripts. It allows no Trusted Types policy, so a browser refuses to turn
// text into markup or script.
func policyWith(source string) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + source,
		"style-src " + source,
		"connect-src 'self'",
		"img-src data:",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	}, "; ")
}

// nonceOctets is the number of random octets of a nonce (CSP Level 3, section 7.1,
// demands at least 128 bits).
const nonceOctets = 18

// writePage writes the page with a new nonce.
func writePage(w http.ResponseWriter) error {
	random := make([]byte, nonceOctets)
	_, _ = rand.Read(random) // never fails
	nonce := base64.RawURLEncoding.EncodeToString(random)
	header := w.Header()
	header.Set("Content-Security-Policy", policyWith("'nonce-"+nonce+"'"))
	header.Set("Content-Type", "text/html; charset=utf-8")
	return page().Execute(w, struct {
		Nonce  string
		Style  template.CSS
		Script template.JS
	}{nonce, style(), script()})
}
