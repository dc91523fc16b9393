package cost

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

func one(octets int64) Sum { return Sum{Requests: 1, Octets: octets, Seconds: float64(octets) / 1000} }

// patterns returns the rows as lines of text.
func patterns(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s %d\n", r.Pattern, r.Requests)
	}
	return b.String()
}

// What varies is folded: names of users and repositories, of files, and the values of
// queries. What is the same in many paths stays.
func TestRowsFoldWhatVaries(t *testing.T) {
	tree := New()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 30_000 {
		base := fmt.Sprintf("/user%d/repo%d", random.IntN(400), random.IntN(5))
		switch i % 3 {
		case 0:
			tree.Add("GPTBot", fmt.Sprintf("%s/blame/branch/main/file%d.go", base, i), one(2000))
		case 1:
			tree.Add("ClaudeBot", fmt.Sprintf("%s/src/commit/%040x", base, i), one(1000))
		case 2:
			tree.Add("GPTBot", fmt.Sprintf("/explore/repos?sort=%d&q=x", i), one(500))
		}
	}
	rows := tree.Rows(0.02)
	for i, want := range []string{"/*/*/blame/branch/main/*", "/*/*/src/commit/*", "/explore/repos?q=&sort="} {
		if len(rows) <= i || rows[i].Pattern != want || rows[i].Requests < 9_800 { // a few are in /*
			t.Fatalf("%s\nwant %s at %d", patterns(rows), want, i)
		}
	}
}

// Three repositories of one user are few names, and have the same pages.
func TestRowsFoldAlike(t *testing.T) {
	tree := New()
	for i := range 600 {
		for _, repo := range []string{"/ann/app", "/ann/lib", "/ann/doc", "/bob/x", "/bob/y", "/bob/z", "/eve/x", "/eve/y", "/eve/z"} {
			tree.Add("GPTBot", fmt.Sprintf("%s/blame/%d", repo, i), one(10))
			tree.Add("GPTBot", fmt.Sprintf("%s/commit/%d", repo, i), one(20))
		}
		tree.Add("GPTBot", "/about/team", one(1000))
		tree.Add("GPTBot", "/about", one(1000))
		tree.Add("GPTBot", "/", one(1000))
	}
	got := patterns(tree.Rows(0.02))
	want := "/ 600\n/about 600\n/about/team 600\n/*/*/commit/* 5400\n/*/*/blame/* 5400\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The slash before a query is part of the path, because a rule without it would match
// nothing.
func TestRowsKeepTheSlash(t *testing.T) {
	tree := New()
	for i := range 300 {
		tree.Add("GPTBot", fmt.Sprintf("/products/?color=red&id=%d", i), one(10))
		tree.Add("GPTBot", fmt.Sprintf("/cart?id=%d", i), one(9))
		tree.Add("GPTBot", fmt.Sprintf("/list/?%d", i), one(8))
		tree.Add("GPTBot", fmt.Sprintf("/?id=%d", i), one(7))
	}
	want := "/products/?color=&id= 300\n/cart?id= 300\n/list/?* 300\n/?id= 300\n"
	if got := patterns(tree.Rows(0.02)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Of the values of a query, only words that say what the page is for are kept.
func TestRowsKeepKinds(t *testing.T) {
	for query, want := range map[string]string{
		"action=diff&id=5": "?action=diff&id=", "action=profile;u=5": "?action=profile&u=", "id=5&action=u5": "?action=&id=", "user=ann&mode=": "?mode=&user=",
		"a=1&b=2&c=3&d=4&action=diff": "?action=diff", "do=diff&secret": "?do=diff", "a=1&b=2&c=3&d=4&e=5": "?*", "q=cat&q=dog": "?q=", "action=Ann": "?action=", "": "?*",
	} {
		if got := params(query, false); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

// What is rare is in the row above it, and each request is in one row.
func TestRowsHaveAllRequests(t *testing.T) {
	tree := New()
	random := rand.New(rand.NewPCG(3, 4))
	want := Sum{}
	for i := range 100_000 {
		target := "/"
		for range random.IntN(9) {
			target += strings.Repeat(string(rune('a'+random.IntN(26))), 1+random.IntN(70)) + "/"
		}
		if random.IntN(3) == 0 {
			target += "?" + strings.Repeat("x", random.IntN(40)) + "=" + fmt.Sprint(i) + "&b&c"
		}
		tree.Add(fmt.Sprint("Bot", random.IntN(100)), target, one(int64(i)))
		want.Add(one(int64(i)))
	}
	got, byClient := Sum{}, Sum{}
	rows := tree.Rows(0.01)
	for _, r := range rows {
		got.Add(r.Sum)
		for _, c := range r.Clients {
			byClient.Add(c.Sum)
		}
	}
	if got.Requests != want.Requests || got.Octets != want.Octets || byClient.Octets != want.Octets {
		t.Errorf("%v, by client %v, want %v", got, byClient, want)
	}
	if len(rows) > 200 {
		t.Errorf("%d rows", len(rows))
	}
}

// Paths that are all different, of clients that are all different, use little memory,
// and do not displace what is frequent.
func TestBoundedTree(t *testing.T) {
	tree := New()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const lines = 200_000
	for i := range lines {
		tree.Add(fmt.Sprint("Bot", i%5000), fmt.Sprintf("/%d/%d/%d/x?p%d=1&q=2", i*7919%100_003, i*104_729%1_000_003, i, i), one(100))
		if i%4 == 0 {
			tree.Add("GPTBot", fmt.Sprintf("/archive/zip/%d", i), one(100))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 12<<20 {
		t.Errorf("%d octets", used)
	}
	if tree.nodes > maxNodes+maxDepth+2 {
		t.Errorf("%d nodes", tree.nodes)
	}
	if n := tree.root.count(); n != tree.nodes {
		t.Errorf("%d nodes, but counted %d", n, tree.nodes)
	}
	for _, r := range tree.Rows(0.05) {
		if r.Pattern == "/archive/zip/*" && r.Requests > lines/4*99/100 {
			return
		}
	}
	t.Error("the row /archive/zip/* is missing")
}

func (n *node) count() int {
	sum := 1
	for _, c := range n.children {
		sum += c.count()
	}
	return sum
}

func FuzzAdd(f *testing.F) {
	f.Add("/a/b/c?d=e", "//../%2f?&=&*")
	f.Add("*", "/$?#")
	f.Fuzz(func(t *testing.T, a, b string) {
		tree := New()
		for _, target := range []string{a, b, a + b, a + "?" + b} {
			tree.Add("Bot", target, one(1))
		}
		sum := int64(0)
		for _, r := range tree.Rows(0) {
			if sum += r.Requests; !strings.HasPrefix(r.Pattern, "/") {
				t.Errorf("pattern %q", r.Pattern)
			}
		}
		if sum != 4 {
			t.Errorf("%d of 4 requests", sum)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	targets := make([]string, 10_000)
	for i := range targets {
		targets[i] = fmt.Sprintf("/page/%c/%c%c%c.html?id=%d", 'a'+i%26, 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, i)
	}
	tree := New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		tree.Add("GPTBot", targets[i%len(targets)], one(1000))
	}
}
