package suggest

import "github.com/caddy-robots/caddy-robots/robots"

// preset is known software: how to recognise it, and its paths that are expensive and
// have nothing that people look for.
type preset struct {
	name string
	// signs are patterns of paths that the software has. With answers for at least two
	// of them, it is recognised.
	signs []string
	// paths are the expensive paths: each has the patterns of one suggestion.
	paths [][]string
	// sources are where the facts are from.
	sources []string
}

// presets are data: each row is one software.
var presets = []preset{
	{
		name:  "Forgejo or Gitea",
		signs: []string{"/*/*/src/branch/", "/*/*/commit/", "/explore/repos", "/user/login", "/assets/js/index.js"},
		paths: [][]string{{"/*/*/blame/"}, {"/*/*/archive/"}, {"/*/*/compare/"}, {"/*/*/commits/"}, {"/*/*/commit/"}, {"/*/*/src/commit/"}, {"/*/*/raw/commit/"}, {"/*/*/search"}, {"/*/*/activity"}, param("sort"), param("lang")},
		sources: []string{
			"https://github.com/go-gitea/gitea/issues/17341",
			"https://docs.gitea.com/administration/search-engines-indexation",
		},
	},
	{
		name:    "MediaWiki",
		signs:   []string{"/*index.php?title=", "/*load.php?", "/wiki/", "/*api.php", "/*Special:"},
		paths:   [][]string{param("oldid"), param("diff"), param("action"), {"/*Special:", "/*title=Special"}, param("printable"), param("curid")},
		sources: []string{"https://www.mediawiki.org/wiki/Manual:Robots.txt"},
	},
	{
		name:    "DSpace",
		signs:   []string{"/server/api/", "/handle/*/", "/bitstreams/*/download", "/items/", "/communities/"},
		paths:   [][]string{{"/search"}, {"/browse/"}, {"/*/search"}, {"/*/browse/"}, {"/server/api/discover/"}, {"/statistics"}, {"/entities/*?f"}, {"/collections/*?f"}, {"/communities/*?spc.page"}},
		sources: []string{"https://github.com/DSpace/dspace-angular/blob/main/src/robots.txt.ejs"},
	},
	{
		name:    "WooCommerce",
		signs:   []string{"/wp-content/plugins/woocommerce/", "/*wc-ajax=", "/product/", "/cart/", "/checkout/"},
		paths:   [][]string{param("add-to-cart"), param("orderby"), {"/*?filter_", "/*&filter_"}, {"/*?min_price=", "/*&min_price=", "/*?max_price=", "/*&max_price="}, param("rating_filter"), param("add_to_wishlist")},
		sources: []string{"https://closte.com/blog/prevent-robots-crawling-add-to-cart-links-on-woocommerce"},
	},
	{
		name:    "cgit",
		signs:   []string{"/*cgit.css", "/*cgit.png", "/*/tree/", "/*/log/", "/*/refs/", "/*/commit/?id="},
		paths:   [][]string{{"/*/snapshot/"}, {"/*/blame/"}, {"/*/diff/"}, {"/*/patch/"}, {"/*/rawdiff/"}, {"/*/plain/"}, {"/*/log/"}, {"/*/stats/"}, param("id"), param("h")},
		sources: []string{"https://serverfault.com/questions/506613/ideal-robots-txt-for-a-gitweb-installation"},
	},
}

// param returns the patterns for a parameter of a query: it is the first one, or
// another one.
func param(name string) []string { return []string{"/*?" + name + "=", "/*&" + name + "="} }

// minSigns is the number of signs that recognise a preset.
const minSigns = 2

// recogniser finds out which software a site has.
type recogniser struct {
	signs [][]*robots.Group // by preset
	seen  [][]bool
}

func newRecogniser() *recogniser {
	r := new(recogniser)
	for _, p := range presets {
		var signs []*robots.Group
		for _, s := range p.signs {
			signs = append(signs, groupOf(s))
		}
		r.signs, r.seen = append(r.signs, signs), append(r.seen, make([]bool, len(signs)))
	}
	return r
}

// note notes a request that was answered with a page or a file.
func (r *recogniser) note(target string) {
	for i, signs := range r.signs {
		for j, g := range signs {
			r.seen[i][j] = r.seen[i][j] || matches(g, target)
		}
	}
}

// recognises reports whether the site has the software of a preset.
func (r *recogniser) recognises(i int) bool {
	n := 0
	for _, seen := range r.seen[i] {
		if seen {
			n++
		}
	}
	return n >= minSigns
}
