package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	devtools "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/axe"
	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// scenario is something that happens to a running server, and what the page must say
// about it.
type scenario struct {
	name   string
	config string // $LIST is the URL of the addresses of the search engine SearchBot, $FILE robots.txt, and $ROOT its folder
	happen func(w *world)

	mark   string // of the banner: good, info, warn or bad
	banner string // a part of its text: what is wrong, who it is, by which line
	todo   string // a part of what it says to do
	also   string // a part of the texts below it
	next   string // the text to copy of the recommended action, with $ADMIN for the admin endpoint; "": there is none
	first  string // the first row of the table of sites, and the origin whose file is shown

	// act does what the page says, where that is not to run a command or to add lines to a
	// block robots; text is what the button copied. helped reports whether it was right.
	act    func(w *world, text string)
	helped func(w *world) bool
}

var scenarios = []scenario{
	{
		name: "the first minute", config: site, happen: func(*world) {},
		mark: "good", banner: `All is well: 1 origin with 3 rules is in force`,
	},
	{
		name: "a broken file", config: "http://localhost:$PORT {\n\trobots {\n\t\tsource file $FILE\n\t}\n" + ops,
		happen: func(w *world) {
			w.write("User-agent: *\nDissallow: private/\n")
			w.post("refresh?accept=on")
		},
		mark: "warn", banner: "line 2 of robots.txt of .*, `Dissallow: private/`, does not do what it says", todo: "Write this in place of line 2",
		next: "Disallow: /private/",
		act: func(w *world, text string) {
			w.write("User-agent: *\n" + text + "\n")
			w.post("refresh")
		},
		helped: func(w *world) bool {
			return crawl(w.t, w.Server, gptbot, "/private/x") == http.StatusForbidden && w.isWell()
		},
	},
	{
		name: "no handler", config: forOwner("{\n\trobots {\n\t\tmode enforce\n\t}\n}\nhttp://localhost:$PORT {\n\troot $ROOT\n\tfile_server\n" + strings.Replace(ops, "respond hello", "", 1)),
		happen: func(w *world) { crawl(w.t, w.Server, gptbot, "/private/x") },
		mark:   "warn", banner: "no site has the line `robots`: no robots.txt is read, and nothing is refused", todo: "write `robots` into the blocks of your sites",
		act: func(w *world, _ string) {
			w.load(strings.Replace(w.config, "\troot ", "\trobots\n\troot ", 1))
			w.post("refresh")
		},
		helped: func(w *world) bool {
			return crawl(w.t, w.Server, gptbot, "/private/x") == http.StatusForbidden && w.isWell()
		},
	},
	{
		name: "a flood that is denied", config: site,
		happen: func(w *world) { w.statuses(250, gptbot, "/shop/x") },
		mark:   "good", banner: `Handled: all of the requests of GPTBot to localhost are refused: \d+ a minute`, todo: "Nothing to do.", next: "",
	},
	{
		name: "a flood that is throttled", config: strings.Replace(site, "User-agent: GPTBot\n\t\t\tDisallow: /", "User-agent: GPTBot\n\t\t\tCrawl-delay: 10", 1),
		happen: func(w *world) { w.statuses(250, gptbot, "/shop/x") },
		mark:   "good", banner: `Handled: \d\d % of the requests of GPTBot to localhost are refused: \d+ a minute`, todo: "Nothing to do.", next: "",
	},
	{
		name: "a flood that passes", config: site,
		happen: func(w *world) {
			for i := range 250 {
				crawl(w.t, w.Server, ahrefs, fmt.Sprintf("/shop/%d", i))
			}
		},
		mark: "warn", banner: `AhrefsBot sends \d+ requests a minute to localhost`,
		todo: "Limit how often each crawler comes", next: "limit /shop/* {\n\teach 10/1m\n}",
		helped: func(w *world) bool {
			list := w.statuses(20, ahrefs, "/shop/x")
			return list[19] == http.StatusTooManyRequests && crawl(w.t, w.Server, ahrefs, "/about") == http.StatusOK && crawl(w.t, w.Server, chrome, "/shop/x") == http.StatusOK
		},
	},
	{
		name: "a line that hits a search engine", config: forOwner(verifying),
		happen: func(w *world) {
			w.write("User-agent: *\nDisallow: /private/\nDisallow: /shop/\n")
			w.post("refresh?accept=on")
			w.verified()
			for range 5 {
				w.via(listedAddr, "localhost", searchBot, "/shop/x")
			}
		},
		mark: "warn", banner: `SearchBot, a verified search engine, is refused at localhost: 5 requests since .*, and \d+ served; the last one by line 3 of robots.txt`,
		todo: "Let it pass until Caddy loads its configuration again", next: "curl -X POST 'http://localhost:$ADMIN/robots/mode?mode=monitor&crawler=SearchBot&site=localhost'",
		helped: func(w *world) bool {
			return w.via(listedAddr, "localhost", searchBot, "/shop/x") == http.StatusOK && crawl(w.t, w.Server, gptbot, "/shop/x") == http.StatusForbidden
		},
	},
	{
		name: "impostors", config: verifying,
		happen: func(w *world) {
			w.write("User-agent: *\nDisallow: /private/\n")
			w.post("refresh")
			w.verified()
			for range 20 {
				w.via(strangerAddr, "localhost", searchBot, "/shop/x")
			}
		},
		mark: "good", banner: `All is well`, also: "Handled: impostors of SearchBot, from 198.51.100.0/24, are refused. They sent 2", todo: "", next: "",
	},
	{
		name: "the file is gone", config: forOwner("http://localhost:$PORT {\n\trobots\n\troot $ROOT\n\tfile_server\n" + strings.Replace(ops, "respond hello", "", 1)),
		happen: func(w *world) {
			crawl(w.t, w.Server, gptbot, "/private/x")
			if err := os.Remove(w.file); err != nil {
				w.t.Fatal(err)
			}
			w.post("refresh")
		},
		mark: "bad", banner: `Problem: there is no robots.txt of localhost: crawlers may fetch everything. Until \d\d:\d\d it had 1 rule`, todo: "put the file back",
		next: "curl -X POST 'http://localhost:$ADMIN/robots/refresh?grace=off&site=localhost'",
		act: func(w *world, text string) {
			w.write("User-agent: *\nDisallow: /private/\n")
			w.shell(text)
		},
		helped: func(w *world) bool {
			return crawl(w.t, w.Server, gptbot, "/private/x") == http.StatusForbidden && w.isWell()
		},
	},
	{
		name: "monitor mode", config: strings.Replace(site, "robots {", "robots {\n\t\tmode monitor", 1),
		happen: func(w *world) { crawl(w.t, w.Server, gptbot, "/"); crawl(w.t, w.Server, gptbot, "/x") },
		mark:   "info", banner: `Monitor mode: nothing is refused. 2 requests would have been refused in the last hour, most of them of GPTBot.`, todo: "remove the line mode monitor", next: "",
		act:    func(w *world, _ string) { w.load(strings.Replace(w.config, "mode monitor", "", 1)) },
		helped: func(w *world) bool { return crawl(w.t, w.Server, gptbot, "/") == http.StatusForbidden },
	},
	{
		name: "one site", config: manySites(1),
		happen: func(w *world) { crawl(w.t, w.Server, gptbot, "/about") },
		mark:   "good", banner: `All is well: 1 origin with 2 rules is in force. Nobody has been verified as a search engine.`, todo: "", next: "",
	},
	{
		name: "30 sites", config: manySites(30), happen: visitAll(30), first: "s17.test",
		mark: "good", banner: `All is well: 30 origins with 60 rules are in force.`, todo: "", next: "",
	},
	{
		name: "300 sites", config: manySites(300), happen: visitAll(300), first: "s17.test",
		mark: "good", banner: `All is well: 300 origins with 600 rules are in force.`, todo: "", next: "",
	},
}

// play lets a scenario happen on a server, and opens the page.
func play(t *testing.T, sc *scenario) (*world, *chromium.Page) {
	t.Helper()
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`)
	}))
	t.Cleanup(list.Close)
	w := &world{t: t, file: filepath.Join(t.TempDir(), "robots.txt")}
	w.write("User-agent: *\nDisallow: /private/\n")
	w.config = strings.NewReplacer("$LIST", list.URL+"/list.json", "$FILE", w.file, "$ROOT", filepath.Dir(w.file)).Replace(sc.config)
	w.Server = server.Start(t, w.config)
	sc.happen(w)
	page := chromium.Open(t, asPerson).NewPage()
	page.Run(devtools.BringToFront(), chromedp.EmulateViewport(1440, 1000), chromedp.Navigate(w.URL("/ops/deep/")))
	page.Eventually("the page has data", `!document.getElementById("main").hasAttribute("aria-busy")`)
	return w, page
}

// Someone who does not know the page reads in its banner what is wrong, who it is and by
// which line, and below it what to do next.
func TestScenarios(t *testing.T) {
	for i := range scenarios {
		sc := &scenarios[i]
		t.Run(sc.name, func(t *testing.T) {
			w, page := play(t, sc)
			page.Eventually("the banner: "+sc.banner, fmt.Sprintf(`new RegExp(%q).test(%s)`, sc.banner, textOf("banner")))
			if got := chromium.Eval[string](page, `document.getElementById("banner").className`); got != "note "+sc.mark {
				t.Errorf("the banner is %s, want %s", got, sc.mark)
			}
			if got := chromium.Eval[string](page, textOf("banner")); !strings.Contains(got, sc.todo) || sc.todo == "" && strings.Contains(got, "What to do") {
				t.Errorf("%s\nwant the next step: %s", got, sc.todo)
			}
			if got := chromium.Eval[string](page, textOf("health")); !strings.Contains(got, sc.also) {
				t.Errorf("%s\nwant %s", got, sc.also)
			}
			copied := copyFirst(page)
			if want := strings.NewReplacer("$PORT", fmt.Sprint(w.Port), "$ADMIN", fmt.Sprint(w.Admin)).Replace(sc.next); copied != want {
				t.Errorf("to copy:\n%s\nwant %s", copied, want)
			}
			// The reasons add up to the tiles.
			const sums = `[...document.querySelectorAll("#reasons p")].map((p) => p.textContent.match(/\d+/g).map(Number)).filter(([all, ...of]) => all !== of.reduce((a, b) => a + b, 0)).length === 0
				&& ["denied", "throttled"].every((word) => parseInt([...document.querySelectorAll("#reasons b")].find((b) => b.innerText.endsWith(" " + word) && !b.innerText.includes("would"))?.innerText || 0) === parseInt(document.querySelector("#now .m-" + { denied: "deny", throttled: "throttle" }[word] + " .sub").innerText))`
			if !chromium.Eval[bool](page, sums) {
				t.Errorf("the reasons do not add up to the tiles: %s\n%s", chromium.Eval[string](page, textOf("reasons")), chromium.Eval[string](page, textOf("now")))
			}
			if got := chromium.Eval[string](page, `document.getElementById("sitespanel").hidden ? "" : document.querySelector("#sites button").innerText`); got != sc.first {
				t.Errorf("the first site is %q, want %q", got, sc.first)
			}
			if sc.first != "" {
				page.Eventually("its file is shown", fmt.Sprintf(`document.getElementById("origin").selectedOptions[0]?.text === %q && document.querySelector("#source tr.hit .hits")?.innerText === "9"`, sc.first))
			}
			if folder := os.Getenv("SCREENSHOTS"); folder != "" {
				page.Screenshot(filepath.Join(folder, regexp.MustCompile(`\W+`).ReplaceAllString(sc.name, "-")+".png"))
			}
			checkClean(t, page, w.URL("/ops/deep/"))
			switch {
			case sc.helped == nil:
				return
			case sc.act != nil:
				sc.act(w, copied)
			case strings.HasPrefix(copied, "curl "):
				w.shell(copied)
			default:
				w.configure(copied)
			}
			if !sc.helped(w) {
				t.Errorf("it did not help: %s", copied)
			}
		})
	}
}

// copyFirst presses the first button that copies, of a folded step too, and returns what it
// copies; "" if there is none.
func copyFirst(page *chromium.Page) string {
	const button = `#first:not([hidden]) .copy, #next:not([hidden]) .copy`
	page.Run(chromedp.Evaluate(`for (const d of document.querySelectorAll("#next details")) d.open = true`, nil)) // where the first step is words alone
	if !chromium.Eval[bool](page, fmt.Sprintf(`Boolean(document.querySelector(%q))`, button)) {
		return ""
	}
	page.Run(chromedp.Click(button, chromedp.ByQuery))
	page.Eventually("the button says so", fmt.Sprintf(`/Copied|Ctrl/.test(document.querySelector(%q).innerText)`, button))
	return chromium.Eval[string](page, `getSelection().toString()`)
}

// A change of the file is shown as a difference, with the number of requests that the new
// lines refused. A line that was chosen stays marked while new data comes.
func TestChangedFile(t *testing.T) {
	w, page := play(t, &scenario{config: verifying, happen: func(w *world) {
		w.write("User-agent: *\nDisallow: /private/\nDisallow: /old/\n")
		w.post("refresh?accept=on")
		w.via(strangerAddr, "localhost", gptbot, "/private/x")
		w.write("User-agent: *\nDisallow: /private/\nDisallow: /shop/\nDisallow: /new/\n")
		w.post("refresh")
		for range 5 {
			w.via(strangerAddr, "localhost", gptbot, "/shop/x")
		}
	}})
	page.Eventually("the change in words", textOf("sourcestate")+`.endsWith("lines 3, 4 are new: 5 refusals since; 1 line is gone.")`)
	const rows = `[...document.querySelectorAll("#source tbody tr")].map((tr) => tr.className.replace(/ ?(hit|fresh|target)/g, "").trim() + "|" + tr.cells[1].innerText + "|" + tr.cells[2].innerText).join("\n")`
	want := "|1|User-agent: *\n|2|Disallow: /private/\ngone|−|Disallow: /old/\nadded|3|Disallow: /shop/\nadded|4|Disallow: /new/"
	if got := chromium.Eval[string](page, rows); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	page.Run(chromedp.Click(`#denials button`, chromedp.ByQuery))
	const marked = `document.querySelector("#source tr.target")?.cells[2].innerText === "Disallow: /shop/"`
	page.Eventually("the line is marked", marked)
	w.via(strangerAddr, "localhost", gptbot, "/shop/y")
	page.Eventually("the line counts the next request", `document.querySelector("#source tr.target .hits").innerText === "6" && `+marked)
	checkClean(t, page, w.URL("/ops/deep/"))
}

// A reload keeps the chosen site and the others to choose from.
func TestReloadKeepsTheHost(t *testing.T) {
	w, page := play(t, &scenario{config: manySites(5), happen: visitAll(5)})
	page.Eventually("the table of sites", `document.querySelectorAll("#sites button").length === 5`)
	page.Run(chromedp.SendKeys(`#sitefilter`, "s3", chromedp.ByQuery))
	page.Eventually("one site", `document.querySelectorAll("#sites button").length === 1`)
	page.Run(chromedp.Click(`#sites button`, chromedp.ByQuery))
	const chosen = `document.getElementById("host").value === "s3.test" && document.getElementById("host").options.length === 6 && document.getElementById("sitespanel").hidden && document.getElementById("origin").selectedOptions[0]?.text === "s3.test"`
	page.Eventually("its data", chosen)
	page.Run(chromedp.Reload())
	page.Eventually("its data after a reload", chosen)
	checkClean(t, page, w.URL("/ops/deep/"))
}

// axe-core finds no violation, whatever the page shows.
func TestAccessibility(t *testing.T) {
	for i := range scenarios {
		sc := &scenarios[i]
		if !slices.Contains([]string{"the first minute", "a flood that passes", "a line that hits a search engine", "the file is gone", "30 sites"}, sc.name) {
			continue // the other pages have the same parts
		}
		t.Run(sc.name, func(t *testing.T) {
			w, page := play(t, sc)
			axe.Load(t, page)
			page.Run(chromedp.Reload())
			page.Eventually("the page has data", `!document.getElementById("main").hasAttribute("aria-busy") && window.axe`)
			page.Run(chromedp.Evaluate(`for (const d of document.querySelectorAll("details:not([hidden])")) d.open = true; document.querySelector("[name=ua]").value = "GPTBot"; document.querySelector("[name=url]").value = "/shop/x"; document.getElementById("check").requestSubmit()`, nil))
			page.Eventually("the answer of the form", `document.querySelector("#verdict .answer")`)
			axe.Check(t, page)
			checkClean(t, page, w.URL("/ops/deep/"))
		})
	}
}

// Requests of impostors that were none are named, with what to do; nothing is proposed
// against the crawler.
func TestMistakenImpostorsAreShown(t *testing.T) {
	later := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv4Prefix":"198.51.100.0/24"}]}`)
	}))
	t.Cleanup(later.Close)
	w, page := play(t, &scenario{config: verifying, happen: (*world).verified})
	page.Eventually("all is well", textOf("health")+`.includes("Handled: impostors of SearchBot, from 198.51.100.0/24, are refused.")`)
	if err := w.Reload(strings.NewReplacer("$LIST", later.URL, "$FILE", w.file).Replace(verifying)); err != nil {
		t.Fatal(err)
	}
	page.Eventually("the mistake", `/^Warning: at least 1 request of SearchBot at localhost, refused as those of impostors, came from addresses that are verified now .*What to do: .*impostors ignore/.test(`+textOf("banner")+`) && document.getElementById("next").hidden`)
	checkClean(t, page, w.URL("/ops/deep/"))
}
