package crawler
import ("testing";"bytes";"fmt";"os")
func TestTmpRows(t *testing.T){
 d,_:=os.ReadFile("registry.jsonl")
 for l := range bytes.Lines(d) { if _,err:=ReadRows(l); err!=nil { fmt.Println(err) } }
}
