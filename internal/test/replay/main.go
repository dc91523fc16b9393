// Command replay sends requests to a Caddy with the plugin, and prints what each gets: those
// of the scenarios, as far as a program can run them, and with a corpus each of its
// robots.txt files to some of its User-Agents. What it prints of two programs can be
// compared with diff:
//
//	go run ./internal/test/replay -caddy OLD -corpus DIR >old.txt
//	go run ./internal/test/replay -caddy NEW -corpus DIR >new.txt
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/test/scenario"
)

func main() {
	log.SetFlags(0)
	program := flag.String("caddy", "", "the program to ask")
	scenarios := flag.String("scenarios", "testdata/scenarios", "the folder of the scenarios")
	corpus := flag.String("corpus", "", "a folder with real-robots/ and useragents-*.txt")
	flag.Parse()
	path, err := filepath.Abs(*program)
	if err != nil || *program == "" {
		log.Fatal("want -caddy PROGRAM")
	}
	files, err := filepath.Glob(filepath.Join(*scenarios, "*.txtar"))
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, file := range files {
		s, err := scenario.Read(file)
		if err != nil {
			log.Fatal(err)
		}
		run(out, path, s)
	}
	if *corpus == "" {
		return
	}
	for _, s := range fromCorpus(*corpus) {
		run(out, path, s)
	}
}

// run runs a scenario in a folder of its own.
func run(out *bufio.Writer, program string, s *scenario.Scenario) {
	dir, err := os.MkdirTemp("", "replay-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	root, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(out, "## %s\n\n", s.Name)
	server := &process{program: program, dir: dir, ports: make(map[string]int)}
	// No command is run, and nothing answers a back end's address.
	options := scenario.Options{Record: out, Root: root, URL: "http://127.0.0.1:1", Held: "127.0.0.1:1", Unchecked: true}
	s.Run(server, dir, options, func(p string) { fmt.Fprintf(out, "%s\n\n", p) })
	_ = server.Stop()
}

// fromCorpus returns scenarios that request each robots.txt's paths with some User-Agents.
func fromCorpus(dir string) (all []*scenario.Scenario) {
	var agents []string
	for _, kind := range []string{"bots", "apps", "browsers"} {
		text, err := os.ReadFile(filepath.Join(dir, "useragents-"+kind+".txt"))
		if err != nil {
			log.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for i := 0; i < len(lines); i += max(1, len(lines)/400) {
			agent, _, _ := strings.Cut(lines[i], "\t")
			agents = append(agents, agent)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "real-robots", "*.txt"))
	if err != nil {
		log.Fatal(err)
	}
	const caddyfile = "http://site.test {\n\trobots {\n\t\tsource file robots.txt\n\t}\n" +
		"\theader >X-Decision \"{http.robots.crawler} {http.robots.action} {http.robots.reason} {http.robots.line}\"\n\trespond page\n}\n"
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		var script []string
		paths := append([]string{"/"}, pathsOf(string(text))...)
		for n := range 30 {
			script = append(script, fmt.Sprintf("GET %q as %q", paths[n%len(paths)], agents[(i*31+n*7)%len(agents)]))
		}
		all = append(all, scenario.New(filepath.Base(file), script, map[string][]byte{"Caddyfile": []byte(caddyfile), "robots.txt": text}))
	}
	return all
}

// pathsOf returns paths of some rules.
func pathsOf(text string) (paths []string) {
	for line := range strings.Lines(text) {
		key, path, _ := strings.Cut(line, ":")
		path = strings.TrimSpace(path)
		if key = strings.ToLower(strings.TrimSpace(key)); (key == "disallow" || key == "allow") && len(paths) < 29 &&
			strings.HasPrefix(path, "/") && !strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || r == '{' }) {
			paths = append(paths, strings.NewReplacer("*", "x", "$", "").Replace(path))
		}
	}
	return paths
}
