package crawler_test

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// benchUAs are the User-Agents that the benchmarks identify.
var benchUAs = []struct{ name, ua string }{
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

func BenchmarkIdentify(b *testing.B) {
	m := crawler.Builtin().Matcher(nil)
	for _, c := range benchUAs {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var id crawler.Identity
			for b.Loop() {
				m.Identify(c.ua, &id)
			}
		})
	}
}

func BenchmarkCache(b *testing.B) {
	m := crawler.Builtin().Matcher(nil)
	for _, c := range benchUAs {
		b.Run(c.name, func(b *testing.B) {
			cache := crawler.NewCache(4096)
			b.ReportAllocs()
			var id crawler.Identity
			for b.Loop() {
				cache.Identify(m, c.ua, &id)
			}
		})
	}
}
