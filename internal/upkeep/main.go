// Upkeep reads again the documents on which the registry of crawlers rests, and
// writes a report in Markdown: documents that are gone, lists of addresses whose
// size changed, key directories without keys, and names of crawlers on
// operators' pages that the registry lacks. It changes no row.
//
//	go run ./internal/upkeep -state upkeep.json > report.md
//
// The file of -state has the sizes of the lists, for the next run. Text of
// strangers stands quoted, in blocks of code.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func main() {
	log.SetFlags(0)
	file := flag.String("registry", builtinRows, "the registry `file` to examine")
	state := flag.String("state", "", "the `file` with the sizes of the lists of the last run; it is replaced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *file, *state); err != nil {
		log.Fatal(err)
	}
}

// builtinRows is the file of the built-in registry in a clone.
const builtinRows = "enforce/crawler/registry.jsonl"

// readRegistry returns the registry of a file, with its sources.
func readRegistry(file string) (*crawler.Registry, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rows, err := crawler.ReadRows(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return new(crawler.Registry).With(rows...)
}

func run(ctx context.Context, file, state string) error {
	registry, err := readRegistry(file)
	if err != nil {
		return err
	}
	before := map[string]int{}
	if data, err := os.ReadFile(state); err == nil {
		if err := json.Unmarshal(data, &before); err != nil {
			return fmt.Errorf("%s: %w", state, err)
		}
	} else if state != "" && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r := examine(ctx, &http.Client{Timeout: 30 * time.Second}, registry, before)
	if err := r.write(os.Stdout); err != nil || state == "" {
		return err
	}
	data, err := json.MarshalIndent(r.sizes, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(state, append(data, '\n'), 0o644)
}

// write writes the report. Strangers choose the text of errors and of proposals,
// so it stands quoted in blocks of code, which no backtick can end.
func (r *report) write(w io.Writer) error {
	var gone, changed []string
	for _, d := range r.documents {
		line := func(what string) string {
			return stranger(d.url) + ": " + stranger(what) + " (" + stranger(strings.Join(d.rows, ", ")) + ")"
		}
		switch before, known := r.before[d.url]; {
		case d.err != nil:
			gone = append(gone, line(d.err.Error()))
		case d.kind == list && known && before != d.size:
			changed = append(changed, line(fmt.Sprintf("%d prefixes, %d before", d.size, before)))
		case d.kind == list && !known:
			changed = append(changed, line(fmt.Sprintf("%d prefixes, for the first time", d.size)))
		}
	}
	text := fmt.Sprintf("# The registry's documents\n\n%d documents were read.\n", len(r.documents))
	text += section("Gone or unreadable", gone) + section("Lists that changed", changed) +
		section("Names that the registry lacks", r.proposals)
	_, err := io.WriteString(w, text)
	return err
}

func section(title string, lines []string) string {
	text := fmt.Sprintf("\n## %s: %d\n", title, len(lines))
	if len(lines) > 0 {
		text += "\n```text\n" + strings.Join(lines, "\n") + "\n```\n"
	}
	return text
}

// stranger returns text that strangers chose, on one line and without control
// characters and backticks.
func stranger(s string) string {
	s = strconv.QuoteToGraphic(s[:min(len(s), 500)])
	return strings.ReplaceAll(s[1:len(s)-1], "`", "'")
}
