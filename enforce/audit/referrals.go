package audit

import (
	"cmp"
	"slices"
	"strings"
)

// sites are the sites of crawlers' operators that send people to others. A name
// that ends in a dot stands for one in every country: google.com, google.co.uk.
var sites = map[string]string{
	"google.": "Google", "bing.com": "Microsoft", "msn.com": "Microsoft", "copilot.microsoft.com": "Microsoft", "copilot.com": "Microsoft",
	"chatgpt.com": "OpenAI", "openai.com": "OpenAI", "claude.ai": "Anthropic", "perplexity.ai": "Perplexity", "you.com": "You.com",
	"mistral.ai": "Mistral", "deepseek.com": "DeepSeek", "grok.com": "xAI", "kimi.com": "Moonshot", "moonshot.cn": "Moonshot",
	"meta.ai": "Meta", "facebook.com": "Meta", "instagram.com": "Meta", "threads.com": "Meta", "threads.net": "Meta", "doubao.com": "ByteDance",
	"toutiao.com": "ByteDance", "tiktok.com": "ByteDance", "duckduckgo.com": "DuckDuckGo", "yandex.": "Yandex", "ya.ru": "Yandex",
	"baidu.com": "Baidu", "sogou.com": "Sogou", "so.com": "Qihoo 360", "sm.cn": "Shenma (Alibaba)", "naver.com": "Naver", "daum.net": "Kakao",
	"seznam.cz": "Seznam", "qwant.com": "Qwant", "mojeek.com": "Mojeek", "kagi.com": "Kagi", "search.brave.com": "Brave",
	"yahoo.co.jp": "Yahoo Japan", "yahoo.": "Yahoo", "coccoc.com": "Coc Coc", "petalsearch.com": "Huawei", "vk.com": "VK", "phind.com": "Phind",
	"linkedin.com": "LinkedIn", "lnkd.in": "LinkedIn", "t.co": "X", "x.com": "X", "twitter.com": "X", "pinterest.": "Pinterest",
	"reddit.com": "Reddit", "slack.com": "Slack", "discord.com": "Discord", "t.me": "Telegram", "bsky.app": "Bluesky", "cohere.com": "Cohere",
	"z.ai": "Zhipu AI", "iask.ai": "iAsk", "andisearch.com": "Andi",
}

// operatorOf returns the operator of a site, by the name of its host; "" for
// none that is known.
func operatorOf(host string) (operator, site string) {
	for rest := host; ; {
		if op := sites[rest]; op != "" {
			return op, rest
		}
		name, parent, ok := strings.Cut(rest, ".")
		if !ok {
			return "", ""
		}
		if op := sites[name+"."]; op != "" && len(parent) <= len("com.au") && strings.Count(parent, ".") <= 1 {
			return op, rest
		}
		rest = parent
	}
}

// referrals counts visits by the operator of the site that sent them.
type referrals struct {
	hosts     map[string]*referral // by host as sent; nil for those that nobody is known to run
	operators map[string]*referral
}

type referral struct {
	operator string
	requests int64
	sites    []string
}

// Bounds of what is remembered of referrals.
const (
	maxReferrers     = 1 << 14
	maxReferralSites = 5
)

func newReferrals() *referrals {
	return &referrals{make(map[string]*referral), make(map[string]*referral)}
}

// add counts a visit with a Referer, or with a utm_source in the query.
func (r *referrals) add(referer, target string) {
	host := hostOf(referer)
	if source := r.source(target); source != nil {
		source.requests++
		return
	}
	if host == "" {
		return
	}
	if op := r.of(host); op != nil {
		op.requests++
	}
}

// hostOf returns the host of a URL.
func hostOf(url string) string {
	_, rest, ok := strings.Cut(url[:min(len(url), 2048)], "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#:"); i >= 0 {
		rest = rest[:i]
	}
	return rest[:min(len(rest), 253)]
}

// source returns the operator that utm_source names.
func (r *referrals) source(target string) *referral {
	i := strings.Index(target, "utm_source=")
	if i < 0 {
		return nil
	}
	name := target[i+len("utm_source="):]
	if j := strings.IndexAny(name, "&# "); j >= 0 {
		name = name[:j]
	}
	if len(name) > 64 || !strings.Contains(name, ".") {
		return nil
	}
	return r.of(name)
}

func (r *referrals) of(host string) *referral {
	if op, ok := r.hosts[host]; ok {
		return op
	}
	if len(r.hosts) >= maxReferrers {
		clear(r.hosts)
	}
	name, site := operatorOf(strings.ToLower(host))
	var op *referral
	if name != "" {
		if op = r.operators[name]; op == nil {
			op = &referral{operator: name}
			r.operators[name] = op
		}
		if site = strings.Clone(site); len(op.sites) < maxReferralSites && !slices.Contains(op.sites, site) {
			op.sites = append(op.sites, site)
		}
	}
	r.hosts[strings.Clone(host)] = op
	return op
}

// report sets referrals beside the crawls of each operator.
func (r *referrals) report(crawls map[string]int64) []Referral {
	list := []Referral{}
	for name, n := range crawls {
		if op := r.operators[name]; op == nil && name != "" && hasSite(name) {
			list = append(list, Referral{Operator: name, Crawls: n, Sites: []string{}})
		}
	}
	for name, op := range r.operators {
		if op.requests > 0 || crawls[name] > 0 {
			slices.Sort(op.sites)
			list = append(list, Referral{Operator: name, Crawls: crawls[name], Referrals: op.requests, Sites: op.sites})
		}
	}
	slices.SortFunc(list, func(a, b Referral) int {
		return cmp.Or(cmp.Compare(b.Crawls, a.Crawls), cmp.Compare(b.Referrals, a.Referrals), strings.Compare(a.Operator, b.Operator))
	})
	return list
}

// hasSite reports whether a site of an operator is known that could send
// people.
func hasSite(operator string) bool {
	for _, op := range sites {
		if op == operator {
			return true
		}
	}
	return false
}
