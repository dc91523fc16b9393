package lint

// lineChecks are about the spelling and the form of single lines.
var lineChecks = []Check{
	{Code: "misspelt-key", Severity: Warning, Title: "the key is misspelt",
		Why:     "few crawlers accept this spelling. All others ignore the line",
		Readers: "Google's parser accepts a few misspellings of Disallow, User-agent and Sitemap, and so does this one. RFC 9309 allows none",
		Before:  "User-agent: *\nDissallow: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "missing-colon", Severity: Warning, Title: "there is no colon after the key",
		Why:     "few crawlers accept a line without a colon. All others ignore it",
		Readers: "Google's parser accepts a line of exactly two words, and so does this one. RFC 9309 requires the colon",
		Before:  "User-agent: *\nDisallow /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "upper-case-key", Severity: Info, Title: "the key is in upper case",
		Why:     "crawlers accept it, since they ignore the case of a key. People read the usual spelling faster",
		Readers: "RFC 9309, section 2.2 and the standard of 1994 ignore the case of keys",
		Before:  "USER-AGENT: *\nDISALLOW: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "unknown-key", Severity: Warning, Title: "no crawler is known to read this key",
		Why:     "the line has no effect",
		Readers: "RFC 9309, section 2.2.4: crawlers ignore lines that they do not know",
		Before:  "User-agent: *\nDisallow: /private/\nCrawl-dealy: 10\n", After: "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n"},
	{Code: "prose", Severity: Warning, Title: "the line is plain text, neither a directive nor a comment",
		Why:     "crawlers ignore the line. Write # before a comment",
		Readers: "RFC 9309, section 2.2.4: crawlers ignore lines that they do not know",
		Before:  "Please do not crawl this\nUser-agent: *\nDisallow: /private/\n", After: "# Please do not crawl this\nUser-agent: *\nDisallow: /private/\n"},
	{Code: "invisible-in-key", Severity: Error, Title: "the key contains an invisible character",
		Why:     "no crawler recognises the key, so the line has no effect. Such characters often come from text that was copied from a web page",
		Readers: "crawlers compare keys octet by octet",
		Before:  "User-agent: *\nDisallow: /a\n\u200bDisallow: /private/\n", After: "User-agent: *\nDisallow: /a\nDisallow: /private/\n"},
	{Code: "leading-blanks", Severity: Info, Title: "the line starts with blanks",
		Why:     "a parser that follows the standard of 1994 exactly ignores the line",
		Readers: "RFC 9309, section 2.2, Google and most parsers skip blanks before a key. The standard of 1994 does not allow them",
		Before:  "User-agent: *\n  Disallow: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "trailing-comment", Severity: Info, Title: "a comment follows the value",
		Why:     "the standards allow it. But a comment on a separate line is easier to see, and parsers that do not remove comments read this one as a part of the value",
		Readers: "RFC 9309, section 2.2 and the standard of 1994 end the value at #",
		Before:  "User-agent: *\nDisallow: /private/ # not for robots\n", After: "User-agent: *\n# not for robots\nDisallow: /private/\n"},
	{Code: "hash-in-path", Severity: Warning, Title: "the path contains a #",
		Why:     "a comment begins at the #, so the rule has a shorter path than it seems. Crawlers never send the part of a URL after # to a server",
		Readers: "every crawler ends the line at # (RFC 9309, section 2.2). URL fragments can't be disallowed",
		Before:  "User-agent: *\nDisallow: /page#comments\n", After: "User-agent: *\nDisallow: /page\n"},
	{Code: "hash-covers-site", Severity: Error, Title: "the path contains a #, and the part before it covers the whole site",
		Why:     "a comment begins at the #, so the rule applies to every page of the site. Crawlers never send URL fragments such as #/admin to a server, so these can't be disallowed",
		Readers: "every crawler ends the line at # (RFC 9309, section 2.2)",
		Before:  "User-agent: *\nDisallow: /#/admin\n", After: "User-agent: *\nDisallow: /admin\n"},
	{Code: "line-too-long", Severity: Warning, Title: "the line is longer than 16,660 octets",
		Why:     "Google's parser ignores the rest of the line, so it reads a shorter path",
		Readers: "Google's parser reads 16,663 octets of a line (google/robotstxt: 8 × 2083 - 1). Other parsers have other limits",
		Before:  "User-agent: *\nDisallow: /" + longPath + "\n", After: "User-agent: *\nDisallow: /aaaa\n"},
}

// longPath is a path that makes a line too long.
var longPath = func() string {
	b := make([]byte, maxLine)
	for i := range b {
		b[i] = 'a'
	}
	return string(b)
}()

// suppressionChecks are about comments that suppress findings.
var suppressionChecks = []Check{
	{Code: "unknown-suppression", Severity: Warning, Title: "a comment suppresses findings of a check that does not exist",
		Why:     "the comment has no effect. Usually, the code is misspelt",
		Readers: "crawlers ignore comments; only the linter reads this one",
		Before:  "User-agent: *\n# robots-lint: ignore mispelt-key\nDissallow: /private/\n", After: "User-agent: *\n# robots-lint: ignore misspelt-key\nDissallow: /private/\n"},
	{Code: "unused-suppression", Severity: Info, Title: "a comment suppresses findings that do not exist",
		Why:     "remove the comment: it would hide a later mistake",
		Readers: "crawlers ignore comments; only the linter reads this one",
		Before:  "User-agent: *\n# robots-lint: ignore misspelt-key\nDisallow: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
}
