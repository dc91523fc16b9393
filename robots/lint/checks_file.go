package lint

import "strings"

// The statements about Google's parser are from its source (google/robotstxt,
// robots.cc). The statements about parsers that do not support Allow, wildcards
// or blank lines were tested with wget, wget2, HTTrack, LWP, linkchecker and
// Python's urllib.robotparser.

// fileChecks are about the file as a whole.
var fileChecks = []Check{
	{Code: "html-page", Severity: Error, Title: "the file is an HTML page",
		Why:     "crawlers find no rules in it and may fetch everything. Sites that have no robots.txt often send such a page in its place",
		Readers: "every crawler ignores lines that it does not understand (RFC 9309, section 2.2). A site without rules should answer 404",
		Before:  "<!DOCTYPE html>\n<html><title>Not found</title></html>\n", After: "User-agent: *\nDisallow:\n"},
	{Code: "binary", Severity: Error, Title: "the file is not text",
		Why:     "robots.txt is UTF-8 text. Crawlers find no rules in this file and may fetch everything",
		Readers: "RFC 9309, section 2.3 requires text/plain in UTF-8",
		Before:  "\x00\x01\x02\x03\x00\x01\x02\x03User-agent\x00\x00\x00", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "utf-16", Severity: Error, Title: "the file is in UTF-16",
		Why:     "crawlers read UTF-8 and find no rules in this file. Save it as UTF-8",
		Readers: "RFC 9309, section 2.3 requires UTF-8. Some Windows editors write UTF-16 if you save a file as \"Unicode\"",
		Before:  "\xff\xfeU\x00s\x00e\x00r\x00", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "not-utf-8", Severity: Warning, Title: "the line is not valid UTF-8",
		Why:     "a path in another encoding, such as ISO 8859-1, matches only URLs in the same encoding. Browsers encode URLs as UTF-8. The linter reads such paths as Windows-1252, and suggests the escapes of UTF-8",
		Readers: "RFC 9309, section 2.3 requires UTF-8, and says nothing about other octets. Google's parser compares the octets as they are",
		Before:  "User-agent: *\nDisallow: /caf\xe9\n", After: "User-agent: *\nDisallow: /caf%C3%A9\n"},
	{Code: "byte-order-mark", Severity: Info, Title: "the file starts with a byte order mark",
		Why:     "parsers that do not skip the mark read it as a part of the first line, and ignore that line",
		Readers: "Google's parser and this one skip one mark. Simple parsers do not",
		Before:  "\xef\xbb\xbfUser-agent: *\nDisallow: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "repeated-byte-order-mark", Severity: Error, Title: "the file starts with several byte order marks",
		Why:     "crawlers skip one mark at most. They read the others as a part of the first line, and ignore that line",
		Readers: "Google's parser and this one ignore the first line. Some programs add a mark each time when they save or join files",
		Before:  "\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "too-large", Severity: Error, Title: "the file is larger than 500 KiB",
		Why:     "crawlers may ignore everything after the first 500 KiB, and Google does. Rules after that have no effect",
		Readers: "RFC 9309, section 2.5 requires crawlers to read at least 500 KiB; Google reads exactly that much",
		Before:  "User-agent: *\n" + strings.Repeat("Disallow: /abcdefgh\n", 26000), After: "User-agent: *\nDisallow: /a\n"},
	{Code: "not-at-root", Severity: Error, Title: "the file is not at /robots.txt",
		Why:     "crawlers ask only for /robots.txt at the root of a host. A file at another address has no effect",
		Readers: "RFC 9309, section 2.3. Each combination of scheme, host name and port has its own file",
		Before:  "User-agent: *\nDisallow: /private/\n", location: "https://www.example.com/blog/robots.txt"},
	{Code: "mixed-line-endings", Severity: Info, Title: "the file mixes different line endings",
		Why:     "crawlers accept each of them. Editors and version control may show changes in lines that did not change",
		Readers: "RFC 9309, section 2.2 and the standard of 1994 accept LF, CRLF and CR",
		Before:  "User-agent: *\r\nDisallow: /a\nDisallow: /b\n", After: "User-agent: *\nDisallow: /a\nDisallow: /b\n"},
	{Code: "cr-line-endings", Severity: Warning, Title: "lines end in CR alone",
		Why:     "parsers that split lines only at LF read the whole file as one line, and find no rules",
		Readers: "RFC 9309, section 2.2, Google and the standard of 1994 accept CR. Many simple parsers do not",
		Before:  "User-agent: *\rDisallow: /private/\r", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "analysis-limited", Severity: Info, Title: "the file is too long to compare all rules",
		Why:     "the linter limits its work. Findings about rules that overlap may be missing",
		Readers: "crawlers are not affected",
		Before:  strings.Repeat("#\n", maxLines+1) + "User-agent: *\nDisallow: /a\n", After: "User-agent: *\nDisallow: /a\n"},
}
