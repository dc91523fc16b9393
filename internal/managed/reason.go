package managed

import "github.com/caddy-robots/caddy-robots/enforce/judge"

var (
	// Layer has the lines that are added to robots.txt.
	Layer = judge.RegisterLayer(judge.LayerInfo{Name: "policy", Published: true})
	// HiddenLayer has the hidden paths, which are published nowhere.
	HiddenLayer = judge.RegisterLayer(judge.LayerInfo{Name: "hidden", Secret: true})
	// HiddenReason is given to requests for hidden paths.
	HiddenReason = judge.RegisterReason(judge.ReasonInfo{
		Name: "hidden", Action: judge.Deny, Meaning: "the policy hides the path", Status: 404, Text: "Not Found",
		Answer: &judge.AnswerInfo{Verdict: "hidden", Line: "policy", Statuses: []int{404, 410}, Abort: true},
	})
)
