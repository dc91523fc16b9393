package shed

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Names of steps that are no purposes.
const (
	SelfDeclared = "self-declared" // also all robots that belong to no other step
	allAI        = "ai-*"
	verified     = "verified search engines"
)

// kinds is the default order, from those that are refused first. The last one has
// the purposes that bring people to the site.
var kinds = []struct {
	name     string
	purposes []crawler.Purpose
}{
	{SelfDeclared, nil},
	{allAI, []crawler.Purpose{crawler.AITraining, crawler.AIData, crawler.AISearch, crawler.AIUser, crawler.AIAgent}},
	{"seo", []crawler.Purpose{crawler.SEO, crawler.Intelligence, crawler.Data, crawler.Research, crawler.Plagiarism, crawler.Security}},
	{"archive", []crawler.Purpose{crawler.Archive}},
	{"preview", []crawler.Purpose{
		crawler.Preview, crawler.Social, crawler.Feed, crawler.ImageProxy, crawler.UserRequest, crawler.Monitor, crawler.Validator,
	}},
	{"search", []crawler.Purpose{crawler.Search, crawler.Ads, crawler.Shopping, crawler.Favicon}},
}

// Order is the order in which the kinds of robots are refused, step by step. It is
// immutable.
type Order struct {
	Steps []string // their names, such as "ai-*"

	steps map[crawler.Purpose]int // by purpose and SelfDeclared
}

// NewOrder returns the order that begins with the given steps: names of kinds and
// purposes. The other kinds follow in the default order. With search,
// protected crawlers are refused too, and the verified ones are the last step.
func NewOrder(first []string, search bool) *Order {
	o := &Order{steps: make(map[crawler.Purpose]int)}
	for _, name := range first {
		o.add(name)
	}
	for _, k := range kinds[:len(kinds)-1] {
		o.add(k.name)
	}
	if search {
		o.add(kinds[len(kinds)-1].name)
		o.Steps = append(o.Steps, verified)
	}
	return o
}

// add adds a step, unless earlier steps have all of it.
func (o *Order) add(name string) {
	members := []crawler.Purpose{crawler.Purpose(name)}
	for _, k := range kinds {
		if k.name == name && k.purposes != nil {
			members = k.purposes
		}
	}
	step := len(o.Steps)
	for _, m := range members {
		if _, ok := o.steps[m]; !ok {
			o.steps[m], o.Steps = step, append(o.Steps[:step], name)
		}
	}
}

// Names returns the names that NewOrder accepts, besides the purposes of crawlers.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// IsProtected reports whether crawlers with this main purpose lose only few
// requests: those that bring people to the site.
func IsProtected(p crawler.Purpose) bool { return slices.Contains(kinds[len(kinds)-1].purposes, p) }

// Rank is the place of a robot in an Order.
type Rank struct {
	Step     int    // index of Order.Steps
	Engine   string // the name of a protected crawler, such as a search engine; otherwise ""
	Verified bool   // Engine is verified
	Client   uint64 // the client that is not, as a hash of its address
}

// clientSeed is a random seed, so that clients can't choose addresses that displace a
// certain one.
var clientSeed = throttle.Key{rand.Uint64(), rand.Uint64()}

// ClientOf returns a hash of the address of a client.
func ClientOf(q *judge.Request) uint64 { return clientSeed.Client(q.Addr())[0] }

// RankOf returns the place of the client of a request that is let through.
// ok is false for clients that are never
// refused, such as people, and for requests that are no crawling.
func (o *Order) RankOf(q *judge.Request, d *judge.Decision) (r Rank, ok bool) {
	switch d.Reason {
	case judge.Person, judge.Exempt, judge.ExemptPath, judge.NotCrawling, judge.Federation:
		return r, false
	}
	switch d.Agent.Class {
	case crawler.SelfDeclared:
		if q.Authorized || q.Method == http.MethodPost || q.Method == http.MethodPut || q.Method == http.MethodPatch ||
			q.Method == http.MethodDelete {
			return r, false
		}
	case crawler.Registered, crawler.Named, crawler.UserTriggered, crawler.Scraper:
	default:
		return r, false
	}
	row := d.Agent.Crawler
	if row == nil || d.Claim.State == verify.Impostor {
		return Rank{Step: o.steps[SelfDeclared]}, true
	}
	main := row.Purpose()
	if row.CountsAs(crawler.Search) {
		main = crawler.Search
	}
	if IsProtected(main) {
		r = Rank{Engine: row.Name, Verified: d.Claim.State == verify.Verified}
		if r.Step, ok = o.steps[main]; r.Verified {
			r.Step = len(o.Steps) - 1
		} else if ok {
			r.Client = ClientOf(q)
		}
		return r, ok
	}
	r.Step = len(o.Steps)
	for _, p := range row.Purposes {
		if step, ok := o.steps[p]; ok {
			r.Step = min(r.Step, step)
		}
	}
	if r.Step == len(o.Steps) {
		r.Step = o.steps[SelfDeclared]
	}
	return r, true
}

// Describe names the step of the client of a request, "" if it is never refused.
func (o *Order) Describe(q *judge.Request, d *judge.Decision) string {
	r, ok := o.RankOf(q, d)
	if !ok {
		return ""
	}
	return fmt.Sprintf("step %d of %d: %s", r.Step+1, len(o.Steps), o.Steps[r.Step])
}
