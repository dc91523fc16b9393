package e2e_test

// spellingsOfPlan are request targets for which file_server, or other back ends,
// serve /private/plan.html.
var spellingsOfPlan = []string{
	"/private/plan.html",
	"//private/plan.html",
	"/./private/plan.html",
	"/a/../private/plan.html",
	"/%70rivate/plan.html",
	"/%70%72%69%76%61%74%65/plan.html",
	"/private%2fplan.html",
	"/private%2Fplan.html",
	"/private//plan.html",
	"/private/%2e%2e/private/plan.html",
	"/%2e/private/plan.html",
	"/a/..%2fprivate/plan.html",
	"/..//private/plan.html",
	"/../private/plan.html",
	"///private///plan.html",
	"/private/press/../plan.html",
	"/private/press/%2e%2e/plan.html",
	"/robots.txt/../private/plan.html",
	"/.well-known/../private/plan.html",
	"/private/./plan.html",
	"/private/plan.html?x=1",
	"/private/plan.html?",
	"/private/plan.html/.",
	"/private/plan.html/x/..",
	"http://localhost:$PORT/private/plan.html",
	"http://user:pass@localhost:$PORT/private/plan.html",
	"https://localhost:$PORT/private/plan.html",
	"http://localhost:$PORT//%70rivate/plan.html",
	"http:private/plan.html",
	"http:/private/plan.html",
}

// secret is a part of /private/plan.html.
const secret = "The plan"
