package limit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/limit"
)

// Errors in a limit name its line, or one of its lines.
func TestLimitErrors(t *testing.T) {
	for text, want := range map[string]string{
		"limit":                                                   "limit: it limits nothing: give a block with all, each, at_once or each_at_once, such as all 30/1m, at Testfile:2",
		"limit /a {\nexcept archive\n}":                           "it limits nothing",
		"limit archive {\nall 1/1m\n}":                            `path pattern "archive" must start with / or *: write /archive, at Testfile:2`,
		"limit /a {\nall\n}":                                      "all takes one value, not 0, at Testfile:3",
		"limit /a {\nall 30\n}":                                   `"30" is not a rate: write it as 30/1m, at Testfile:2`,
		"limit /a {\nall 0/1m\n}":                                 `"0/1m" is not a rate`,
		"limit /a {\nall \"1/1m 0800-1200\"\n}":                   "is not a rate",
		"limit /a {\nall 1/1m\nall 2/1m\n}":                       "all is given twice, at Testfile:4",
		"limit /a {\nat_once none\n}":                             "at_once: \"none\" is not a whole number from 1 to 1000000, at Testfile:3",
		"limit /a {\nevery 1/1m\n}":                               `unknown subdirective "every"`,
		"limit /a {\natonce 3\n}":                                 "did you mean at_once?, at Testfile:3",
		"limit /a {\nall 1/1m\nexcept archve\n}":                  `limit: except: the registry has no purpose and no crawler "archve"; did you mean archive?, at Testfile:2`,
		"limit /a {\nall 1/1m\nexcept GPTBott\n}":                 "did you mean GPTBot?, at Testfile:2",
		"limit /a {\nall 1/1m\ninclude seo\n}":                    "include seo has no effect",
		"limit /a {\nall 1/1m\ninclude GPTBot\n}":                 "include GPTBot has no effect: without include, all crawlers are held but those of the purposes search and ads, and those of except, at Testfile:2",
		"limit /a {\nall 9/1m\neach 10/1m\n}":                     "each 10/1m limits nothing, because all 9/1m is not more",
		"limit /a {\nat_once 2\neach_at_once 2\n}":                "each_at_once 2 limits nothing, because at_once 2 is not more",
		"limit /a /b {\nall 1/1m\n}\nlimit /b /a {\nat_once 1\n}": "limit /b /a is given twice: write one block with the lines of both, at Testfile:5",
		"limit {\nall 1/1m\n}\nlimit {\nat_once 1\n}":             "limit is given twice: write one block",
		"limit {\nall 0/1m\n}":                                    `all: "0/1m" is not a rate: write it as 30/1m, at Testfile:2`,
		"limit {\nall 1000000000/1s\n}":                           `all: "1000000000/1s" is not a rate`,
		"limit /1 {\nall 1/1m\n}" + manyLimits(7):                 "there are 8 limits: at most 7 are possible, at Testfile:23",
	} {
		_, err := config.Parse(caddyfile.NewTestDispenser("robots {\n"+text+"\n}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
	}
	for _, text := range []string{
		manyLimits(7),
		"limit {\nall 1/1m\nexcept seo\ninclude AhrefsBot search ads bingbot\n}",
		"limit {\nall 30/1m\neach 100/1h\n}",
		"registry crawlers.jsonl\nlimit {\nall 30/1m\nexcept NobodyKnows\n}",
		"crawler OwnBot {\nuser_agents OwnBot\n}\nlimit {\nall 30/1m\nexcept OwnBot\n}",
	} {
		if _, err := config.Parse(caddyfile.NewTestDispenser("robots {\n"+text+"\n}"), nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// manyLimits returns n limits.
func manyLimits(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("\nlimit /%d/ {\nall 1/1m\n}", i)
	}
	return text
}
