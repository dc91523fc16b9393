package e2e_test

import (
	"os/exec"
	"strings"
	"testing"
)

// For a person, identify prints the browser, system and device in the User-Agent.
func TestIdentifyDescribesPeople(t *testing.T) {
	t.Parallel()
	for ua, want := range map[string][]string{
		chrome: {"person", "Chrome 131", "Windows 10"},
		"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0":                                                                  {"person", "Firefox 130", "Linux"},
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1": {"person", "Safari", "iPhone"},
		"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36":                   {"person", "Chrome 131", "Android"},
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15":                   {"person", "Safari", "OS"},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0":           {"person", "Edge 131", "Windows 10"},
		gptbot: {"GPTBot", "OpenAI", "ai-training"},
	} {
		out, err := exec.Command(binary, "robots", "identify", ua).CombinedOutput()
		_, said, _ := strings.Cut(string(out), "\n") // the first line is the User-Agent
		said, _, _ = strings.Cut(said, "because")
		for _, part := range want {
			if err != nil || !strings.Contains(said, part) {
				t.Errorf("%s: %v, want %q in\n%s", ua, err, part, out)
			}
		}
	}
}
