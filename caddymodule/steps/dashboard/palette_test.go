package dashboard

import (
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/colour"
)

// palettes returns the colours of the light and the dark mode by name.
func palettes(t *testing.T) map[string]map[string]colour.RGB {
	t.Helper()
	light, dark, found := strings.Cut(text("style.css"), "prefers-color-scheme: dark")
	if !found {
		t.Fatal("no dark mode")
	}
	all := make(map[string]map[string]colour.RGB)
	for mode, part := range map[string]string{"light": light, "dark": dark} {
		colours := make(map[string]colour.RGB)
		for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(part, -1) {
			c, err := colour.Parse(m[2])
			if err != nil {
				t.Fatal(err)
			}
			colours[m[1]] = c
		}
		all[mode] = colours
	}
	return all
}

// In both modes, text has a contrast of at least 4.5 to its background, and marks of at
// least 3 (WCAG 2.2, sections 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	for mode, c := range palettes(t) {
		check := func(name, on string, least float64) {
			a, known := c[name]
			b, knownToo := c[on]
			if !known || !knownToo {
				t.Errorf("%s: there is no %s or %s", mode, name, on)
			} else if got := a.Contrast(b); got < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", mode, name, on, got, least)
			}
		}
		for _, on := range []string{"bg", "panel", "faint", "hover"} {
			for _, ink := range []string{"ink", "muted", "link"} {
				check(ink, on, 4.5)
			}
		}
		for _, on := range []string{"bg", "panel", "deny-wash"} {
			check("deny-ink", on, 4.5)
		}
		for _, on := range []string{"bg", "panel", "throttle-wash"} {
			check("throttle-ink", on, 4.5)
		}
		check("ink", "deny-wash", 4.5)
		check("ink", "throttle-wash", 4.5)
		check("good", "panel", 4.5)
		for _, mark := range marks {
			check(mark, "panel", 3)
		}
	}
}

// marks has the names of the colours for data.
var marks = []string{"pass", "deny", "throttle", "people"}

// The colours for data are different for everyone, also for people with a colour vision
// deficiency: by at least 0.08 in OKLab, which is four times the difference that is just
// noticeable.
func TestColoursAreDistinguishable(t *testing.T) {
	for mode, colours := range palettes(t) {
		for kind, matrix := range colour.Visions {
			for i, a := range marks {
				for _, b := range marks[i+1:] {
					if d := colours[a].Seen(matrix).Distance(colours[b].Seen(matrix)); d < .08 {
						t.Errorf("%s, %s: %s and %s are %.3f apart", mode, kind, a, b, d)
					}
				}
			}
		}
	}
}
