package robots

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/temoto/robotstxt"
)

var words = strings.Fields("shop cart user login search tag author archive feed print private admin api static " +
	"product category review checkout account media gallery video download forum topic thread")

// text returns a file of n rules. Their paths share folders, as in real files. wild
// of them have a `*`, at different positions.
func text(n, wild int) []byte {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	word := func() string { return words[rnd.IntN(len(words))] }
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		switch {
		case i < wild && i%3 == 0:
			fmt.Fprintf(&b, "Disallow: /*?%s%d=\n", word(), i)
		case i < wild && i%3 == 1:
			fmt.Fprintf(&b, "Disallow: /*/%s-%d/*.html$\n", word(), i)
		case i < wild:
			fmt.Fprintf(&b, "Disallow: /%s/*/%s%d\n", word(), word(), i)
		default:
			fmt.Fprintf(&b, "Disallow: /%s/%s-%d/%s\n", word(), word(), i, word())
		}
	}
	return []byte(b.String())
}

// targets returns request targets of about 40 octets. Every other one is
// disallowed.
func targets(g *robots.Group) []string {
	rnd := rand.New(rand.NewPCG(2, 2))
	rules := g.Rules()
	var list []string
	for range 16 {
		pattern := rules[rnd.IntN(len(rules))].Pattern
		path := strings.NewReplacer("*", "some/where", "$", "").Replace(pattern)
		list = append(list, path+"/index.html?p=2", "/product/category-shoes/running-42.html?s=1")
	}
	return list
}

var sizes = []struct{ rules, wild int }{
	{20, 0}, {450, 0}, {5000, 0}, {50000, 0}, {450, 45}, {5000, 500},
}

const large = 16 << 20

// BenchmarkMatch matches one target. ours-both-views does what the plugin does for
// each request: it matches the target as the client sent it and as the back end
// serves it.
func BenchmarkMatch(b *testing.B) {
	for _, size := range sizes {
		data := text(size.rules, size.wild)
		g := robots.Parse(data, robots.WithMaxSize(large)).Star()
		paths := targets(g)
		name := fmt.Sprintf("rules=%d/wildcards=%d/", size.rules, size.wild)
		b.Run(name+"ours-both-views", func(b *testing.B) {
			var v robots.Views
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				v.Reset(paths[i&31], robots.ViewOptions{})
				g.MatchViews(&v)
			}
		})
		b.Run(name+"ours", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				g.Match(paths[i&31])
			}
		})
		b.Run(name+"temoto", func(b *testing.B) {
			r, err := robotstxt.FromBytes(data)
			if err != nil {
				b.Fatal(err)
			}
			tg := r.FindGroup("anybot")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				tg.Test(paths[i&31])
			}
		})
	}
}

// BenchmarkWorstPattern matches a rule of 60 wildcards with a path of 4 KB that it
// almost matches.
func BenchmarkWorstPattern(b *testing.B) {
	data := []byte("User-agent: *\nDisallow: /" + strings.Repeat("*a", 60) + "b\n")
	path := "/" + strings.Repeat("a", 4096)
	b.Run("ours-both-views", func(b *testing.B) {
		g := robots.Parse(data).Star()
		var v robots.Views
		b.ReportAllocs()
		for b.Loop() {
			v.Reset(path, robots.ViewOptions{})
			g.MatchViews(&v)
		}
	})
	b.Run("temoto", func(b *testing.B) {
		r, err := robotstxt.FromBytes(data)
		if err != nil {
			b.Fatal(err)
		}
		g := r.FindGroup("anybot")
		b.ReportAllocs()
		for b.Loop() {
			g.Test(path)
		}
	})
}

// BenchmarkHostile parses and matches files of 500 KB that are made to be slow,
// with a path of 4 KB.
func BenchmarkHostile(b *testing.B) {
	files := map[string]string{"wildcards": "", "prefixes": "", "agents": ""}
	var s strings.Builder
	s.WriteString("User-agent: *\n")
	for i := 0; s.Len() < robots.MaxSize-30; i++ {
		fmt.Fprintf(&s, "Disallow: *%c%c*%d\n", 'a'+i%3, 'a'+i/3%3, i)
	}
	files["wildcards"] = s.String()
	s.Reset()
	s.WriteString("User-agent: *\n")
	for i := 1; s.Len() < robots.MaxSize-1100; i++ {
		fmt.Fprintf(&s, "Disallow: /%s*%c\n", strings.Repeat("a", i), 'b'+i%20)
	}
	files["prefixes"] = s.String()
	s.Reset()
	for i := range 10000 {
		fmt.Fprintf(&s, "User-agent: a%d\n", i)
	}
	for i := range 5000 {
		fmt.Fprintf(&s, "Disallow: /%d\n", i)
	}
	for i := range 8000 {
		fmt.Fprintf(&s, "User-agent: a%d\nAllow: /%d\n", i, i)
	}
	files["agents"] = s.String()
	path := "/" + strings.Repeat("aabbcc", 680)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := []byte(files[name])
		b.Run(name+"/parse", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				robots.Parse(data)
			}
		})
		b.Run(name+"/match", func(b *testing.B) {
			f := robots.Parse(data)
			g := f.Group("a7")
			var v robots.Views
			b.ReportAllocs()
			for b.Loop() {
				v.Reset(path, robots.ViewOptions{})
				g.MatchViews(&v)
			}
		})
	}
}

// BenchmarkParse parses generated files, and large real ones from the folder in
// ROBOTS_CORPUS, if it is set.
func BenchmarkParse(b *testing.B) {
	files := map[string][]byte{"rules=450": text(450, 45), "rules=5000": text(5000, 500)}
	if dir := os.Getenv("ROBOTS_CORPUS"); dir != "" {
		for _, name := range []string{"015.txt", "022.txt", "080.txt"} {
			data, err := os.ReadFile(filepath.Join(dir, "real-robots", name))
			if err != nil {
				b.Fatal(err)
			}
			files["real-"+name] = data
		}
	}
	for name, data := range files {
		b.Run(name+"/ours", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				robots.Parse(data)
			}
		})
		b.Run(name+"/temoto", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				robotstxt.FromBytes(data)
			}
		})
	}
}
