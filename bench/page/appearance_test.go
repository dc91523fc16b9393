package page

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/caddy-robots/caddy-robots/bench/internal/axe"
	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// The page has the light or dark scheme that the reader prefers. In both, all text has
// enough contrast.
func TestColours(t *testing.T) {
	b := chromium.Open(t)
	url := file(t, sample(t))
	for _, scheme := range []string{"light", "dark"} {
		tab := open(t, b, url, 1280, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		ground := chromium.Eval[string](tab, `getComputedStyle(document.body).backgroundColor`)
		if want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}[scheme]; ground != want {
			t.Errorf("%s: the background is %s", scheme, ground)
		}
		if got := chromium.Eval[[]string](tab, unreadable); len(got) > 0 {
			t.Errorf("%s: contrast below 4.5: %q", scheme, got)
		}
		tab.Screenshot(filepath.Join(t.ArtifactDir(), scheme+".png"))
		clean(t, tab, url)
	}
}

// unreadable returns the texts whose contrast with their background is below 4.5 to 1
// (WCAG 2.2, success criterion 1.4.3).
const unreadable = `(() => {
	const parse = text => text.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
	const behind = element => {
		for (; element; element = element.parentElement) {
			const colour = parse(getComputedStyle(element).backgroundColor);
			if (colour.length < 4 || colour[3] > 0) return colour;
		}
	};
	const found = new Set();
	for (const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walker.nextNode();) {
		const element = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, style")) continue;
		const style = getComputedStyle(element);
		const [a, b] = [light(parse(element.closest("svg") ? style.fill : style.color)), light(behind(element))];
		if ((Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5) found.add(element.className + ": " + walker.currentNode.data.slice(0, 40));
	}
	return [...found];
})()`

// On a phone with a width of 320 CSS pixels, only tables scroll sideways, and the
// keyboard can scroll them.
func TestPhone(t *testing.T) {
	b := chromium.Open(t)
	for name, r := range map[string]*audit.Report{"sample": sample(t), "hostile": hostile(t, strings.Repeat("W", 500))} {
		url := file(t, r)
		tab := open(t, b, url, 320)
		if got := chromium.Eval[int](tab, `document.scrollingElement.scrollWidth`); got > 320 {
			t.Errorf("%s: the page is %d wide: %q", name, got, chromium.Eval[[]string](tab,
				`[...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll *, svg") && e.getBoundingClientRect().right > 320).slice(0, 5).map(e => e.tagName + "." + e.className + " in " + e.parentElement.outerHTML.slice(0, 60))`))
		}
		if got := chromium.Eval[[]string](tab, `[...document.querySelectorAll(".scroll")].filter(e => e.tabIndex !== 0 || !e.getAttribute("aria-labelledby")).map(e => e.outerHTML.slice(0, 80))`); len(got) > 0 {
			t.Errorf("%s: the keyboard cannot scroll %q", name, got)
		}
		if name == "sample" {
			tab.Screenshot(filepath.Join(t.ArtifactDir(), "phone.png"))
		}
		clean(t, tab, url)
	}
}

// Printing uses light colours.
func TestPrint(t *testing.T) {
	url := file(t, sample(t))
	tab := open(t, chromium.Open(t), url, 1280, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	var pdf []byte
	tab.Run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = cdppage.PrintToPDF().WithPrintBackground(false).Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
		t.Errorf("%d octets of PDF: %.20q", len(pdf), pdf)
	}
	tab.Run(emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	if got := chromium.Eval[string](tab, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("the background is %s", got)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), "report.pdf"), pdf, 0o644); err != nil {
		t.Fatal(err)
	}
	clean(t, tab, url)
}

// axe-core finds no violation.
func TestAccessibility(t *testing.T) {
	tab := chromium.Open(t).NewPage()
	axe.Load(t, tab)
	tab.Run(chromedp.Navigate(file(t, sample(t))))
	tab.Eventually("the page was loaded", `document.readyState === "complete" && window.axe`)
	axe.Check(t, tab)
}
