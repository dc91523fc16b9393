package dashboard

import (
	"crypto/rand"
	"embed"
	"encoding/base64"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed page.html style.css script/*.js uplot/*
var files embed.FS

// scripts are the parts of the page's script, in their order.
var scripts = []string{"dom", "state", "chart", "crawlers", "source", "denials", "panels", "check", "main"}

// The page's parts. Its script is one function, which leaves nothing behind in
// the window.
var (
	page   = template.Must(template.New("page.html").ParseFS(files, "page.html"))
	style  = template.CSS(text("uplot/uPlot.min.css") + "\n" + text("style.css"))
	script = template.JS(text("uplot/uPlot.iife.min.js") + "\n(() => {\n'use strict';\n" + joined(scripts) + "})();\n")
)

// text returns an embedded file.
func text(name string) string {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// joined returns the parts of the script.
func joined(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(text("script/" + name + ".js"))
	}
	return b.String()
}

// SetHeaders sets the fields that protect an answer. They hold for the page,
// for its data, and for refusals.
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

// policyWith returns the Content-Security-Policy of a page whose styles and
// scripts have a source. Trusted Types without any policy make a browser refuse
// each way by which text can become markup or script.
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

// nonceOctets is how many random octets a nonce has (CSP Level 3, section 7.1,
// asks for 128 bits at least).
const nonceOctets = 18

// writePage writes the page, with a nonce of its own.
func writePage(w http.ResponseWriter) error {
	random := make([]byte, nonceOctets)
	_, _ = rand.Read(random) // never fails
	nonce := base64.RawURLEncoding.EncodeToString(random)
	header := w.Header()
	header.Set("Content-Security-Policy", policyWith("'nonce-"+nonce+"'"))
	header.Set("Content-Type", "text/html; charset=utf-8")
	return page.Execute(w, struct {
		Nonce  string
		Style  template.CSS
		Script template.JS
	}{nonce, style, script})
}
