package crawler

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func lines(t *testing.T, name string) []string {
	dir := os.Getenv("ROBOTS_CORPUS")
	if dir == "" {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		ua, _, _ := strings.Cut(s.Text(), "\t")
		out = append(out, ua)
	}
	return out
}

func TestDump(t *testing.T) {
	m := Builtin().Matcher(nil)
	for _, f := range []string{"bots", "browsers", "apps"} {
		ls := lines(t, "useragents-"+f+".txt")
		out, _ := os.Create("/tmp/dump-" + f)
		count := map[Class]int{}
		for _, ua := range ls {
			var id Identity
			m.Identify(ua, &id)
			count[id.Class()]++
			tok := ""
			for _, a := range id.Agents() {
				tok += "|" + a.Token
			}
			out.WriteString(id.Class().String() + "\t" + tok + "\t" + ua + "\n")
		}
		out.Close()
		t.Log(f, len(ls), count)
	}
}
