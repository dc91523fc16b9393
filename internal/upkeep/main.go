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
	"io/fs"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func main() {
	log.SetFlags(0)
	file := flag.String("registry", "", "a registry `file` to examine instead of the built-in one")
	state := flag.String("state", "", "the `file` with the sizes of the lists of the last run; it is replaced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *file, *state); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file, state string) error {
	registry := crawler.Builtin()
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rows, err := crawler.ReadRows(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if registry, err = new(crawler.Registry).With(rows...); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
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
