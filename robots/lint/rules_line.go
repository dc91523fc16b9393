package lint

// lineRules are about how single lines are written.
var lineRules = []Rule{
	{Code: "misspelt-key", Severity: Warning, Title: "the key is misspelt",
		Why:     "few crawlers accept this spelling. All others ignore the line",
		Readers: "Google's parser accepts a few misspellings of Disallow, User-agent and Sitemap, and so does this one. RFC 9309 has none",
		Before:  "User-agent: *\nDissallow: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "missing-colon", Severity: Warning, Title: "there is no colon after the key",
		Why:     "few crawlers accept a line without a colon. All others ignore it",
		Readers: "Google's parser accepts a line of exactly two words, and so does this one. RFC 9309 requires the colon",
		Before:  "User-agent: *\nDisallow /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "upper-case-key", Severity: Info, Title: "the key is in capitals",
		Why:     "crawlers accept it, since the case of a key does not matter. People read the usual spelling faster",
		Readers: "RFC 9309, section 2.2 and the standard of 1994 compare keys without regard to case",
		Before:  "USER-AGENT: *\nDISALLOW: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "unknown-key", Severity: Warning, Title: "no crawler is known to read this key",
		Why:     "the line has no effect",
		Readers: "RFC 9309, section 2.2.4: crawlers ignore lines that they do not know",
		Before:  "User-agent: *\nDisallow: /private/\nCrawl-dealy: 10\n", After: "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n"},
	{Code: "prose", Severity: Warning, Title: "the line is text for people",
		Why:     "the line has no effect. A comment starts with #",
		Readers: "RFC 9309, section 2.2.4: crawlers ignore lines that they do not know",
		Before:  "Please do not crawl this\nUser-agent: *\nDisallow: /private/\n", After: "# Please do not crawl this\nUser-agent: *\nDisallow: /private/\n"},
	{Code: "invisible-in-key", Severity: Error, Title: "the key has an invisible character in it",
		Why:     "no crawler recognises the key, so the line has no effect. Such characters come with text that was copied from a web page",
		Readers: "crawlers compare keys octet by octet",
		Before:  "User-agent: *\nDisallow: /a\n\u200bDisallow: /private/\n", After: "User-agent: *\nDisallow: /a\nDisallow: /private/\n"},
	{Code: "leading-blanks", Severity: Info, Title: "the line starts with blanks",
		Why:     "a reader that takes the standard of 1994 by its letter ignores the line",
		Readers: "RFC 9309, section 2.2, Google and most readers skip blanks before a key. The standard of 1994 does not allow them",
		Before:  "User-agent: *\n  Disallow: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "trailing-comment", Severity: Info, Title: "a comment follows the value",
		Why:     "the standards allow it. A comment on a line of its own is easier to see, and readers that do not strip comments keep the path",
		Readers: "RFC 9309, section 2.2 and the standard of 1994 end the value at #",
		Before:  "User-agent: *\nDisallow: /private/ # not for robots\n", After: "User-agent: *\n# not for robots\nDisallow: /private/\n"},
	{Code: "hash-in-path", Severity: Warning, Title: "the path has a # in it",
		Why:     "everything from # on is a comment, so the rule covers a shorter path than it seems to. No crawler sends what follows a # to a server",
		Readers: "every crawler ends the line at # (RFC 9309, section 2.2). URL fragments can't be disallowed",
		Before:  "User-agent: *\nDisallow: /page#comments\n", After: "User-agent: *\nDisallow: /page\n"},
	{Code: "hash-covers-site", Severity: Error, Title: "the path has a # in it, and what remains covers the whole site",
		Why:     "everything from # on is a comment, so the rule is for every page of the site. URL fragments such as #/admin are never sent to a server and can't be disallowed",
		Readers: "every crawler ends the line at # (RFC 9309, section 2.2)",
		Before:  "User-agent: *\nDisallow: /#/admin\n", After: "User-agent: *\nDisallow: /admin\n"},
	{Code: "line-too-long", Severity: Warning, Title: "the line is longer than 16,660 octets",
		Why:     "Google's parser ignores the rest of the line, so it reads a shorter rule",
		Readers: "Google's parser keeps some 16,660 octets of a line (8 × 2083, less the octets that end it). Others have other limits",
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

// suppressionRules are about comments that suppress findings.
var suppressionRules = []Rule{
	{Code: "unknown-suppression", Severity: Warning, Title: "a comment suppresses findings of a rule that does not exist",
		Why:     "the comment has no effect. Mostly the code is misspelt",
		Readers: "crawlers ignore comments; this is for the linter alone",
		Before:  "User-agent: *\n# robots-lint: ignore mispelt-key\nDissallow: /private/\n", After: "User-agent: *\n# robots-lint: ignore misspelt-key\nDissallow: /private/\n"},
	{Code: "unused-suppression", Severity: Info, Title: "a comment suppresses findings that do not exist",
		Why:     "the comment can go. Left there, it would hide a later mistake",
		Readers: "crawlers ignore comments; this is for the linter alone",
		Before:  "User-agent: *\n# robots-lint: ignore misspelt-key\nDisallow: /private/\n", After: "User-agent: *\nDisallow: /private/\n"},
}
