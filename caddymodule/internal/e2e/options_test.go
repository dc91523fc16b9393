package e2e_test

// siteWith returns a site with a robots.txt and the given options.
func siteWith(options string) string {
	return `http://:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/
			Crawl-delay: 100

			User-agent: bingbot
			Crawl-delay: 1
			Disallow: /private/
			TXT
		` + options + `
	}
	respond "hello"
}
`
}
