package lines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// What is known about the lines of all blocks, so that errors say where a line belongs.
// It changes only before the first block is parsed.
var (
	site    []string // lines of the directive robots
	process []string // lines that only the global option robots has
	blocks  []block  // of lines of robots
)

// block is the block that a line opens.
type block struct {
	name  string // of the line
	head  string // an example of it
	lines []string
}

// KnowSite notes lines of the directive robots.
func KnowSite(names ...string) { site = append(site, names...) }

// KnowWords notes words that may stand behind robots itself.
func KnowWords(words ...string) {
	for _, word := range words {
		elsewhere[word] = "write robots " + word
	}
}

// KnowProcess notes lines that only the global option robots has.
func KnowProcess(names ...string) { process = append(process, names...) }

// KnowBlock notes the lines of the block that a line of robots opens. head is an example of
// that line, such as "crawler NAME".
func KnowBlock(head string, lines ...string) {
	name, _, _ := strings.Cut(head, " ")
	blocks = append(blocks, block{name, head, lines})
}

// Advice for words that are no lines of any block.
const (
	denyAdvice   = "write Disallow into robots.txt, or deny into the block of policy: policy {\n\tdeny …\n}"
	exemptAdvice = "write exempt for crawlers, or exempt_paths for paths"
	rateAdvice   = "write limit for what all crawlers together may request, or Crawl-delay and Request-rate in robots.txt"
	fileAdvice   = "it is a line of robots.txt: write it into that file, or into the text of source inline"
	tagAdvice    = "write x_robots_tag with a pattern: x_robots_tag *.pdf noindex"
)

var elsewhere = map[string]string{
	"block": denyAdvice, "disallow": denyAdvice, "ban": denyAdvice, "reject": denyAdvice, "denylist": denyAdvice, "blacklist": denyAdvice,
	"whitelist": exemptAdvice, "allowlist": exemptAdvice, "ignore": exemptAdvice, "exclude": exemptAdvice,
	"rate_limit": rateAdvice, "rate": rateAdvice, "throttle": rateAdvice, "delay": rateAdvice,
	"crawl-delay": fileAdvice, "request-rate": fileAdvice, "user-agent": fileAdvice, "sitemap": fileAdvice,
	"noindex": tagAdvice, "nofollow": tagAdvice, "header": tagAdvice,
	"monitor": "write mode monitor", "enforce": "write mode enforce, or what to enforce in the block of mode monitor",
	"file": "write source file", "url": "write source url", "inline": "write source inline", "robots_txt": "write source file",
	"suspects":    "write the paths of pages to challenge, and the trap into its block: challenge /PATH {\n\ttrap /calendar-all/*\n}",
	"ignore_case": "write paths ignore_case", "strip_params": "write paths strip_params", "decode_twice": "write paths decode_twice",
}

// misplaced says what to write for a line that is no line of a block; "" if it may be any word.
// It does not show paths, which may be secret.
func misplaced(name string, args []string) string {
	for i, value := range args {
		if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "*") {
			args[i] = "…"
		}
	}
	if slices.Contains(site, name) {
		return "write it beside the lines of robots, and not into their blocks"
	}
	for _, b := range blocks {
		if slices.Contains(b.lines, name) {
			return fmt.Sprintf("write it into the block of %s: %s", b.name, Example(b.head, strings.Join(append([]string{name}, args...), " ")))
		}
	}
	if strings.HasSuffix(name, ":") {
		return fileAdvice
	}
	return elsewhere[strings.ToLower(name)]
}

// InBlock returns an error if the values of a line have a line of its block.
func InBlock(name string, values []string) error { return InBlockOrRate(name, "", values) }

// InBlockOrRate is InBlock where a rate stands for a line of the block; "" for none.
func InBlockOrRate(name, rate string, values []string) error {
	at := slices.IndexFunc(blocks, func(b block) bool { return b.name == name })
	for i, v := range values {
		if at < 0 || v == "" {
			break
		}
		head, rest := strings.Join(append([]string{name}, values[:i]...), " "), strings.Join(values[i:], " ")
		if _, err := throttle.ParseRate(v); rate != "" && err == nil {
			rest = rate + " " + rest
		} else if !slices.Contains(blocks[at].lines, v) {
			continue
		}
		if i == 0 {
			head = blocks[at].head
		}
		return fmt.Errorf("%s: %s belongs into a block: %s", name, v, Example(head, rest))
	}
	return nil
}

// OnlyBlock returns an error for the values of a line that has only a block. more is added
// to what the error says of other values.
func OnlyBlock(name string, values []string, more string) error {
	if err := InBlock(name, values); err != nil || len(values) == 0 {
		return err
	}
	return fmt.Errorf("%s: unexpected %q: it takes its options in a block%s", name, values[0], more)
}

// Example returns a block with one line, as it is written.
func Example(head, line string) string { return head + " {\n\t" + line + "\n}" }
