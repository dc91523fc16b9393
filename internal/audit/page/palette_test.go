package page

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/colour"
)

// In the light and the dark scheme, text and marks have enough contrast with the
// background, and readers with any kind of colour vision can distinguish the colours of
// the marks.
func TestPalette(t *testing.T) {
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(style, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d colour schemes", len(schemes))
	}
	for i, name := range []string{"light", "dark"} {
		colours := make(map[string]colour.RGB)
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(schemes[i][1], -1) {
			c, err := colour.Parse(m[2])
			if err != nil {
				t.Fatal(err)
			}
			colours[m[1]] = c
		}
		for mark, least := range map[string]float64{
			"ink": 7, "soft": 4.5, "link": 4.5, // WCAG 2.2, 1.4.3 and 1.4.6
			"pass": 3, "deny": 3, "throttle": 3, "people": 3, // 1.4.11
		} {
			for _, ground := range []string{"ground", "raised", "alert"} {
				if strings.Contains("pass deny throttle people", mark) && ground != "ground" {
					continue
				}
				if got := colours[mark].Contrast(colours[ground]); got < least {
					t.Errorf("%s: contrast of %s with %s is %.2f, below %v", name, mark, ground, got, least)
				}
			}
		}
		marks := []string{"pass", "deny", "throttle", "people"}
		for kind, matrix := range colour.Visions {
			for i, a := range marks {
				for _, b := range marks[i+1:] {
					if got := colours[a].Seen(matrix).Distance(colours[b].Seen(matrix)); got < 0.1 {
						t.Errorf("%s: with %s, the distance of %s and %s is only %.3f", name, kind, a, b, got)
					}
				}
			}
		}
	}
}

// A colour means the same on the dashboard.
func TestColoursOfTheDashboard(t *testing.T) {
	text, err := os.ReadFile("../../../caddymodule/steps/dashboard/style.css")
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(`--(?:pass|deny|throttle|people): #\w+`)
	if ours, theirs := marks.FindAllString(style, -1), marks.FindAllString(string(text), -1); !slices.Equal(ours, theirs) || len(ours) != 8 {
		t.Errorf("%v, but the dashboard has %v", ours, theirs)
	}
}
