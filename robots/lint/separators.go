package lint

import "strings"

// separators are the characters with which people separate paths, or end them.
const separators = ",;"

// splitPaths returns the paths in the value of a rule, without the separators
// between them and at the end. separated reports whether there is such a
// separator. If the value is not a list of paths, splitPaths returns nil.
func splitPaths(value string) (paths []string, separated bool) {
	var list []string
	for word := range strings.FieldsSeq(value) {
		if !strings.ContainsAny(word, "*?") {
			word = separatedPaths.Replace(word)
		}
		list = append(list, strings.Fields(word)...)
	}
	for _, item := range list {
		path := strings.TrimRight(item, separators)
		separated = separated || path != item
		switch {
		case path == "":
		case path[0] != '/' && path[0] != '*':
			return nil, false
		default:
			paths = append(paths, path)
		}
	}
	if len(paths) == 1 && len(list) == 1 && separated && !isSeparator(paths[0], list[0][len(paths[0])]) {
		return list, false
	}
	return paths, separated
}

// separatedPaths puts a blank between a separator and a path behind it, as in
// /a,/b.
var separatedPaths = strings.NewReplacer(",/", ", /", ";/", "; /")

// isSeparator reports whether a comma or semicolon after the only path of a rule
// is probably a mistake. After a `*` or in a query it is not, and a semicolon
// may begin the parameters of a path, as in /products;jsessionid=1. Some
// publishing systems use commas between numbers, as in /story/0,1234,00.html.
func isSeparator(path string, sep byte) bool {
	last := path[len(path)-1]
	switch {
	case last == '*' || strings.Contains(path, "?"):
		return false
	case last == '/' || last == '$':
		return true
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return sep == ',' && strings.Trim(name, "0123456789,") != ""
}

// separatorName returns the name of the separator at the end of a value.
func separatorName(value string) string {
	if strings.HasSuffix(value, ";") {
		return "semicolon"
	}
	return "comma"
}
