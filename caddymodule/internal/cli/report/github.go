package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// GitHub writes findings as workflow commands of GitHub Actions. GitHub shows them
// beside the lines of the file.
func GitHub(w io.Writer, d *Document) error {
	buf := bufio.NewWriter(w)
	lines := d.lines()
	for i := range d.Findings {
		f := &d.Findings[i]
		place := ""
		if d.local() {
			place = fmt.Sprintf("file=%s,line=%d,", commandProperty.Replace(d.Name), f.Line)
			if l := lines[f.Line]; isOn(f, &l) && f.Text != "" {
				from := codePoints(l.Raw[:f.Column-1]) + 1
				place += fmt.Sprintf("col=%d,endColumn=%d,", from, from+codePoints(f.Text))
			}
		}
		fmt.Fprintf(buf, "::%s %stitle=%s::%s\n", commandLevel(f.Severity), place, f.Code, commandData.Replace(Visible(f.Message)+": "+f.Why))
	}
	return buf.Flush()
}

// local reports whether the document is a file, not a URL or standard input.
func (d *Document) local() bool { return d.Name != "-" && !strings.Contains(d.Name, "://") }

// commandLevel returns the name of a severity in workflow commands.
func commandLevel(s lint.Severity) string {
	return [...]string{lint.Info: "notice", lint.Warning: "warning", lint.Error: "error"}[min(s, lint.Error)]
}

// Escapes of workflow commands, in their text and in their properties.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
