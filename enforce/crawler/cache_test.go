package crawler_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// typicalUAs are User-Agents of each kind, and hostile ones.
var typicalUAs = []struct{ name, ua string }{
	{"browser", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36 Edg/124.0"},
	{"phone", "Mozilla/5.0 (Linux; Android 13; SM-S918B Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/124.0.6367.82 Mobile Safari/537.36"},
	{"crawler", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"},
	{"unknown crawler", "Mozilla/5.0 (compatible; AcmeSiteCrawler/2.1; +https://acme.example/crawler)"},
	{"library", "curl/8.5.0"},
	{"hostile 64 KB words", strings.Repeat("Yandex(Sogou-web+Googlebo;", 64<<10/26)},
	{"hostile 64 KB one word", strings.Repeat("ab", 32<<10)},
	{"hostile 64 KB URL", "http://" + strings.Repeat("bot.", 16<<10)},
	{"hostile 64 KB parts", strings.Repeat("aAbBcC_", 9<<10) + " x"},
}

func TestCachedResultsEqualTheMatchers(t *testing.T) {
	r := crawler.Builtin()
	m := r.Matcher(nil)
	for _, entries := range []int{0, 1, 4096} {
		cache := crawler.NewCache(entries)
		for range 3 {
			for _, c := range typicalUAs {
				var want, got crawler.Identity
				m.Identify(c.ua, &want)
				cache.Identify(m, c.ua, &got)
				if !slices.Equal(got.Agents(), want.Agents()) {
					t.Errorf("%d entries: %s is %v, want %v", entries, c.name, agents(&got), agents(&want))
				}
			}
		}
	}
}

func TestCacheKeepsMatchersApart(t *testing.T) {
	base := crawler.Builtin()
	cache := crawler.NewCache(16)
	const ua = chrome + " Acme/1.0"
	with, err := base.With(crawler.Crawler{Name: "Acme", Class: crawler.Scraper, UserAgents: []string{"Acme"}, Robots: []string{"Acme"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, c := range []struct {
			m    *crawler.Matcher
			want crawler.Class
		}{
			{base.Matcher(nil), crawler.Person},
			{base.Matcher([]string{"acme"}), crawler.Named},
			{with.Matcher(nil), crawler.Scraper},
			{base.Matcher([]string{"other"}), crawler.Person},
		} {
			var id crawler.Identity
			cache.Identify(c.m, ua, &id)
			if id.Class() != c.want {
				t.Errorf("class %v, want %v", id.Class(), c.want)
			}
		}
	}
}

// A cached identity lives longer than its request, so it must not refer to the request's User-Agent.
func TestCacheKeepsNoRequestMemory(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"acme"})
	cache := crawler.NewCache(64)
	const size = 1 << 20
	for i := range 200 {
		big := fmt.Sprintf("Robot%d-bot/1.0 Acmeware%d ", i, i) + strings.Repeat("x ", size/2)
		var id crawler.Identity
		cache.Identify(m, big, &id)
		if id.Len() == 0 {
			t.Fatal("the User-Agent names no crawler")
		}
	}
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	if s.HeapInuse > 100*size {
		t.Errorf("the heap has %d MiB after 200 User-Agents of 1 MiB, want at most 100", s.HeapInuse>>20)
	}
	runtime.KeepAlive(cache)
}

func TestCacheHitAllocatesNothing(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	cache := crawler.NewCache(64)
	for _, c := range typicalUAs {
		var id crawler.Identity
		cache.Identify(m, c.ua, &id)
		if n := testing.AllocsPerRun(100, func() { cache.Identify(m, c.ua, &id) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func TestCacheUnderConcurrentUse(t *testing.T) {
	r := crawler.Builtin()
	matchers := []*crawler.Matcher{r.Matcher(nil), r.Matcher([]string{"Acme"}), r.Matcher([]string{"Acme", "Foo"})}
	cache := crawler.NewCache(32)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			for range 3000 {
				m := matchers[rng.IntN(len(matchers))]
				ua := fmt.Sprintf("Acme/%d Foo (compatible; Bar%dbot/1.0)", rng.IntN(40), rng.IntN(3))
				var want, got crawler.Identity
				m.Identify(ua, &want)
				cache.Identify(m, ua, &got)
				if !slices.Equal(got.Agents(), want.Agents()) {
					t.Errorf("%q: %v, want %v", ua, agents(&got), agents(&want))
					return
				}
			}
		})
	}
	wg.Wait()
}
