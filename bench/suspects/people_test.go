package suspects

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
)

// A person reads, goes back and forth, reloads, opens robots.txt, and has
// several tabs.
func TestAPersonWhoReads(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	for n := range 10 {
		s.click(p, fmt.Sprint("p", n), fmt.Sprint("Page ", n))
		s.click(p, "next", fmt.Sprint("Page ", n+1))
		p.Run(chromedp.NavigateBack(), chromedp.Reload(), chromedp.Navigate(s.TLSURL("/")))
	}
	p.Run(chromedp.Navigate(s.TLSURL("/robots.txt")))
	for n := range 5 {
		tab := s.person(b)
		tab.Run(chromedp.Navigate(s.TLSURL(fmt.Sprintf("/page-%d.html", n))))
	}
	s.nothing(p)
}

// What a browser fetches ahead of its user does not count, a trap included.
func TestPrefetchAndPrerender(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	for range 3 {
		p.Run(chromedp.Navigate(s.TLSURL("/ahead.html")))
		s.is(p, "performance.getEntriesByType('resource').some(e => e.name.includes('/calendar-all/'))")
	}
	p.Run(chromedp.Navigate(s.TLSURL("/page-2.html")), chromedp.Navigate(s.TLSURL("/page-3.html")))
	s.nothing(p)
}

// 50 people with the same browser at one address.
func TestFiftyPeopleAtOneAddress(t *testing.T) {
	s, b := startSite(t), chromium.Open(t, chromedp.UserAgent(userAgent))
	p := s.person(b)
	p.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		var at sync.WaitGroup
		errs := make(chan error, 50)
		places := make(chan struct{}, 5)
		for person := range 50 {
			at.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				own, done := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
				defer done()
				visit := chromedp.Tasks{asAPerson(), chromedp.Navigate(s.TLSURL("/"))}
				for n := range 3 {
					n = (person + n) % (pages - 1)
					visit = append(visit, chromedp.Click(fmt.Sprint("#p", n), chromedp.ByQuery), chromedp.WaitReady(fmt.Sprintf("img[src='/picture-%d.svg']", n), chromedp.ByQuery),
						chromedp.NavigateBack(), chromedp.WaitReady("#p0", chromedp.ByQuery))
				}
				if err := chromedp.Run(own, visit); err != nil {
					errs <- err
				}
			})
		}
		at.Wait()
		select {
		case err := <-errs:
			return err
		default:
			return nil
		}
	}))
	s.nothing(p)
}
