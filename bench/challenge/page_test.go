package challenge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/axe"
	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/bench/internal/webdriver"
)

// languages are those that the page of the check is in.
var languages = []string{"en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "uk", "tr", "ja", "zh", "ko", "ar"}

// TestPage looks at the page of the check, which does not get on here: in all languages, in
// a narrow window, and with axe-core.
func TestPage(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	s.waitForCheck()
	browser := chromium.Open(t, chromedp.UserAgent(webdriver.ChromeAgent))
	p, checked := browser.NewPage(), browser.NewPage()
	axe.Load(t, checked)
	look := func(p *chromium.Page, name, target, language string) {
		p.Run(page.BringToFront()) // in a tab in the background, nothing gets the focus
		fields := network.Headers{"Accept-Language": language + ";q=0.9"}
		p.Run(emulation.SetDeviceMetricsOverride(320, 640, 1, false), network.SetExtraHTTPHeaders(fields),
			network.ClearBrowserCookies(), chromedp.Navigate(s.TLSURL(target)))
		direction := "ltr"
		if language == "ar" {
			direction = "rtl"
		}
		p.Eventually("the page of the check is shown in "+language,
			fmt.Sprintf("document.documentElement?.lang === %q && document.dir === %q && document.querySelector('button')", language, direction))
		p.Eventually("the button has the focus", "document.activeElement.localName === 'button'")
		for what, expression := range map[string]string{
			"it is wider than 320 px":             "document.documentElement.scrollWidth <= innerWidth && innerWidth === 320",
			"the style is not applied":            "getComputedStyle(document.querySelector('button')).borderRadius !== '0px'",
			"it has no title, or not one heading": "document.title && document.querySelectorAll('h1').length === 1",
			"it has a live region":                "!document.querySelector('[aria-live],[role=status],[role=alert]')",
		} {
			if !chromium.Eval[bool](p, "Boolean("+expression+")") {
				t.Errorf("%s in %s: %s", name, language, what)
			}
		}
	}

	for _, p := range []*chromium.Page{p, checked} {
		held := stop(p, network.ResourceTypeDocument)
		for _, language := range languages {
			if p == checked && language != "en" && language != "ar" {
				continue
			}
			look(p, "check", "/blame/"+language, language)
			if p == checked {
				axe.Check(t, p)
			}
		}
		held()
		stop(p, network.ResourceTypeStylesheet)
		for _, language := range []string{"en", "ar"} {
			look(p, "button", "/blame/alone-"+language+"?a=1", language)
			p.Eventually("the page has the button alone", "!document.querySelector('script')")
			if p == checked {
				axe.Check(t, p)
			}
		}
	}
	for _, problem := range append(p.Errors(), checked.Errors()...) {
		if strings.Contains(problem, "Content Security Policy") {
			t.Error(problem)
		}
	}
}

// stop stops requests of a type that have a token, until the result is called: a document
// is answered with 204, so that the page stays.
func stop(p *chromium.Page, what network.ResourceType) (end func()) {
	p.Run(fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*caddy-robots-pass=*", ResourceType: what}}))
	p.Listen(func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok && e.ResourceType == what {
			go func() {
				if what == network.ResourceTypeDocument {
					_ = p.Try(fetch.FulfillRequest(e.RequestID, 204))
				} else {
					_ = p.Try(fetch.FailRequest(e.RequestID, network.ErrorReasonBlockedByClient))
				}
			}()
		}
	})
	return func() { p.Run(fetch.Disable()) }
}
