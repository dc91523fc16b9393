package background

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Work that panics ends neither the process nor what repeats, and is reported: at first, and
// then more and more rarely.
func TestPanics(t *testing.T) {
	reported := make(chan int, 100)
	Report(func(p Panic) {
		if p.What == "kept" && strings.Contains(p.Stack, "TestPanics") {
			reported <- p.Count
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var g Group
	n, again := 0, make(chan bool)
	g.Keep(ctx.Done(), "kept", func() {
		if n++; n <= 5 {
			panic("broken")
		}
		close(again)
		<-ctx.Done()
	})
	<-again
	cancel()
	g.Wait()
	ended := make(chan bool, 3)
	work := func() { defer func() { ended <- true }(); panic("once") }
	Go("once", work)
	After(0, "once", work)
	Ended(ctx, "once", work)
	limited := AtMost(1)
	for range 3 {
		<-ended
		limited.Go("once", func() { panic("once") })
	}
	limited.Wait()
	if close(reported); len(reported) != 3 || <-reported != 1 || <-reported != 2 || <-reported != 4 {
		t.Error("not reported as the first, second and fourth")
	}
	if all := Panics(); len(all) != 2 || all[0].What != "kept" || all[0].Count != 5 || all[0].Value != "broken" || time.Since(all[0].Last) > time.Hour {
		t.Errorf("%+v", all)
	}
	if err := Try("tried", func() error { return fs.ErrExist }); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := Run("tried", func() { panic("now") }); err == nil || !strings.Contains(err.Error(), "now") {
		t.Error(err)
	}
}

// In the whole program, goroutines and timers begin here only.
func TestNothingElseBeginsGoroutines(t *testing.T) {
	begin := map[string][]string{
		"time": {"AfterFunc"}, "context": {"AfterFunc"}, "sync": {"WaitGroup"}, "runtime": {"SetFinalizer"}, "golang.org/x/sync/errgroup": {"Group", "WithContext"},
	}
	root := "../.."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), root+"/")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "bench" || name == "internal/test" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "internal/background/background.go":
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imported := make(map[string]string) // path by name
		for _, i := range file.Imports {
			from := strings.Trim(i.Path.Value, `"`)
			as := from[strings.LastIndexByte(from, '/')+1:]
			if i.Name != nil {
				as = i.Name.Name
			}
			imported[as] = from
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: use package background instead of go", files.Position(n.Pos()))
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && slices.Contains(begin[imported[of.Name]], n.Sel.Name) {
					t.Errorf("%s: use package background instead of %s.%s", files.Position(n.Pos()), of.Name, n.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
