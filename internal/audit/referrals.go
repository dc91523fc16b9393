package audit

import (
	"cmp"
	"slices"
	"strings"
)

// Referral compares, for one operator, the requests of its crawlers with the visits
// that its sites sent.
type Referral struct {
	Operator string `json:"operator"`
	Crawls   int64  `json:"crawls"` // requests of its crawlers
	// Referrals is the number of requests with browsers' User-Agents whose Referer,
	// or utm_source in the query, names a site of the operator.
	Referrals int64 `json:"referrals"`
	// Sites are those sites, at most 5.
	Sites []string `json:"sites"`
}

// referrerSites are the sites that send people to other sites, and their operators. A
// name with a dot at its end stands for that name in all countries: google.com,
// google.co.uk.
var referrerSites = map[string]string{
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

// operatorOf returns the operator of a host and the domain by which it was found; "" if
// none is known.
func operatorOf(host string) (operator, site string) {
	for rest := host; ; {
		if op := referrerSites[rest]; op != "" {
			return op, rest
		}
		name, parent, ok := strings.Cut(rest, ".")
		if !ok {
			return "", ""
		}
		if op := referrerSites[name+"."]; op != "" && len(parent) <= len("com.au") && strings.Count(parent, ".") <= 1 {
			return op, rest
		}
		rest = parent
	}
}

// referrals counts visits by the operator of the site that sent them.
type referrals struct {
	hosts     map[string]*referral // by host as sent; nil if the operator is not known
	operators map[string]*referral
}

// referral counts the visits from the sites of one operator.
type referral struct {
	operator string
	requests int64
	sites    []string
}

// Limits for referrals.
const (
	maxReferrers     = 1 << 14 // hosts that are remembered
	maxReferralSites = 5       // per operator
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

// of returns the referral for a host; nil if its operator is not known.
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

// report returns the referrals of each operator with the number of its crawls.
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

// hasSite reports whether a site of an operator is known.
func hasSite(operator string) bool {
	for _, op := range referrerSites {
		if op == operator {
			return true
		}
	}
	return false
}
