package crawler

import "testing"

// ruleExamples has a User-Agent that each rule fits, and one that it does not fit.
var ruleExamples = [...]struct{ fits, not string }{
	{"acme-probe/1.0", "acme-probe/1.0 AcmeSpider"},
	{"Google-Extended", "Acme (like Google-Extended)"},
	{"AcmeBot/1.0", "Talbot/1.0"},
	{"Mozilla/5.0 (compatible; Acme/1.0)", "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; Acme)"},
	{
		"Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko; Acme) Safari/537.36",
		"Mozilla/5.0 (X11; Acme) AppleWebKit/537.36 (KHTML, like Gecko)",
	},
	{"Acme/1.0 (+https://acme.example)", "Acme/1.0 (iOS; +https://acme.example)"},
	{"Acme-Webhooks/1.0", "Acme-Monitor/1.0"},
	{"AcmeChecker/1.0", "AcmeChecker/1.0 (iPhone; iOS 17.0)"},
	{
		"Acmeware Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 Safari/537.36",
		"Acmeware Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)",
	},
	{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 Safari/537.36 acme.com",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) acme.com",
	},
	{
		"Mozilla/5.0 (Windows NT 10.0) Acmeware/1.0",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) Acmeware/1.0",
	},
	{
		"Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/W.X.Y.Z Safari/537.36",
		"Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/XXX.X Safari/537.36",
	}, // overwritten by a privacy tool
	{"Acmeware/1.0 (compatible; Windows NT 10.0)", "Acmeware/1.0 (compatible; Konqueror/4.1)"},
	{"Mozilla/5.0 (Windows NT 10.0; Acmeware)", "Mozilla/4.0 (Windows NT 5.1; Acmeware)"},
	{"Chrome/124.0", "Firefox/125.0"},
	{"Acmeware 2013 (15.0.4797) Windows NT 10.0", "Acmeware 2013 (Windows NT 10.0)"},
	{"SEO Browser", "SEO Browser/1.0 (Windows NT 10.0)"},
	{"Mozilla/5.0 Acmeware", "Mozilla/5.0 (Acmeware)"},
	{"Mozilla/5.0 (Acmeware)", "Mozilla/4.0 (Acmeware)"},
	{"Mozilla/5.0 acme.com", "Mozilla/5.0 (acme.com)"},
	{"Mozilla/5.0 (acme.com)", "Mozilla/4.0 (acme.com)"},
	{"AcmeSEO/1.0", "AcmeSync/1.0"},
	{"AcmeSync/1.0", "AcmeSync/1.0 (iPhone; iOS 17.0)"},
	{"Acme (+acme)", "AcmePlayer (+acme)"},
	{"Acme (acme.com)", "AcmePlayer (acme.com)"},
	{"acme-httpclient/1.0", "acme-httpclient/1.0 (iPhone; iOS 17.0)"},
	{"The Acmeware 1.0", "Acme;Acmeware;f00d;;3.2"},
	{"ds9", "Acme;TV1;f00d;;3.2"},
	{"Mozilla/5.0", "Mozilla/5.0 (iPhone)"},
}

// Each rule has an example, and a User-Agent that it does not fit.
func TestRules(t *testing.T) {
	m := Builtin().Matcher(nil)
	by := func(ua string, r *rule) bool {
		var id Identity
		m.Identify(ua, &id)
		return id.n == 1 && id.agents[0].Class == r.class && id.agents[0].Reason == r.reason
	}
	if len(ruleExamples) != len(rules) {
		t.Fatalf("%d examples of %d rules", len(ruleExamples), len(rules))
	}
	for i, example := range ruleExamples {
		r := &rules[i]
		if r.near == row && i >= nearRows {
			t.Errorf("rule %d is behind nearRows", i)
		}
		if !by(example.fits, r) {
			t.Errorf("rule %d does not fit %s", i, example.fits)
		}
		if by(example.not, r) {
			t.Errorf("rule %d fits %s", i, example.not)
		}
	}
}
