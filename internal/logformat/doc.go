// Package logformat parses the lines of access logs: Caddy's JSON and console
// lines, the common and combined formats of Apache and nginx, and nginx's JSON.
//
// Detect finds the format of a log from its first lines. Format.Parse parses one
// line into an Entry without copying:
//
//	format := logformat.Detect(sample, nil)
//	var e logformat.Entry
//	for line := range lines {
//		e.Reset()
//		if problem := format.Parse(line, &e); problem == logformat.None {
//			fmt.Println(e.Time(), e.UserAgent(), e.Target)
//		}
//	}
//
// The package does not read files (see package logfile), and does not know what
// robots.txt says about a request (see package audit). Lines come from hostile
// clients: every line is parsed in bounded memory, or has a Problem.
package logformat
