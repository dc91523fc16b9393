// Package verdict has the one form in which a decision is shown: its keys in JSON,
// its words, and its text. They are those of the placeholders {http.robots.…} and of
// the access log's field `robots`. `caddy robots check`, the admin API, the dashboard
// and the audit show a decision in this form.
//
//	var d enforce.Decision
//	rules.Check(request, &d)
//	json.NewEncoder(w).Encode(verdict.Of(&d)) // {"crawler":"GPTBot","class":"crawler", … "action":"deny", …}
//
// It decides nothing: that is package enforce.
package verdict
