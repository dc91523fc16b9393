package suspects

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
)

// A person reads pages, goes back and forth, reloads, opens robots.txt, and has
// several tabs.
func TestPersonWhoReadsPages(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	for n := range 10 {
		s.click(p, fmt.Sprint("p", n), fmt.Sprint("Page ", n))
		s.click(p, "next", fmt.Sprint("Page ", n+1))
		p.Run(chromedp.Evaluate("history.back()", nil))
		s.shows(p, fmt.Sprint("Page ", n))
		p.Run(chromedp.Evaluate("history.forward()", nil))
		s.shows(p, fmt.Sprint("Page ", n+1))
		p.Run(chromedp.Reload(), chromedp.Navigate(s.TLSURL("/")))
	}
	p.Run(chromedp.Navigate(s.TLSURL("/robots.txt")))
	for n := range 5 {
		tab := s.person(b)
		tab.Run(chromedp.Navigate(s.TLSURL(fmt.Sprintf("/page-%d.html", n))))
	}
	s.wantsNoSignal(p)
}

// Pages and traps that a browser prefetches or prerenders raise no signal.
func TestPrefetchAndPrerender(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	for range 3 {
		p.Run(chromedp.Navigate(s.TLSURL("/ahead.html")))
		s.waitFor(p, "performance.getEntriesByType('resource').some(e => e.name.includes('/calendar-all/'))")
	}
	p.Run(chromedp.Navigate(s.TLSURL("/page-2.html")), chromedp.Navigate(s.TLSURL("/page-3.html")))
	s.wantsNoSignal(p)
}

// 50 people with the same browser are at one address. Each has a separate browser
// profile, with its own connections and cache.
func TestFiftyPeopleAtOneAddress(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	const atOnce = 5
	for first := 0; first < 50; first += atOnce {
		p.Run(chromedp.ActionFunc(func(ctx context.Context) error {
			var all sync.WaitGroup
			var errs [atOnce]error
			for i := range errs {
				all.Go(func() { errs[i] = s.visit(ctx, first+i) })
			}
			all.Wait()
			return errors.Join(errs[:]...)
		}))
	}
	s.wantsNoSignal(p)
}

// visit opens a few pages for one person in a new browser profile.
func (s *site) visit(ctx context.Context, person int) error {
	browser := cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
	profile, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(browser)
	if err != nil {
		return err
	}
	tab, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(browser)
	if err != nil {
		return err
	}
	own, done := chromedp.NewContext(ctx, chromedp.WithTargetID(tab))
	defer func() {
		done()
		_ = target.DisposeBrowserContext(profile).Do(browser)
	}()
	read := chromedp.Tasks{asAPerson()}
	for n := range 3 {
		n = (person + n) % pages
		read = append(read, chromedp.Navigate(s.TLSURL("/")), chromedp.Click(fmt.Sprint("#p", n), chromedp.ByQuery),
			chromedp.WaitReady(fmt.Sprintf("img[src='/picture-%d.svg']", n), chromedp.ByQuery))
	}
	return chromedp.Run(own, read)
}
