package response

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// ForbidStoring makes the response leave the server with `Cache-Control: no-store`, and
// without the fields of storedFields, whatever other handlers do to its header.
//
// Handlers such as `header` change the header when it is sent, after every handler inside
// of them. And an error route writes its answer after them. So ForbidStoring puts a
// ResponseWriter below all others that wrap w: right above the server's own one.
func ForbidStoring(w http.ResponseWriter) {
	forbidStoring{}.Answered(0, w.Header())
	var lowest *caddyhttp.ResponseWriterWrapper
	for {
		if wrapper := wrapperOf(w); wrapper != nil {
			lowest = wrapper
		}
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = outer.Unwrap()
	}
	if lowest != nil { // else no handler wraps w
		lowest.ResponseWriter = new(Head).Watch(lowest.ResponseWriter, forbidStoring{})
	}
}

// wrapperOf returns the ResponseWriterWrapper that a ResponseWriter embeds, as Caddy's own
// and those of most plugins do; nil if it has none.
func wrapperOf(w http.ResponseWriter) *caddyhttp.ResponseWriterWrapper {
	v := reflect.Indirect(reflect.ValueOf(w))
	if v.Kind() != reflect.Struct {
		return nil
	}
	field, embeds := v.Type().FieldByName("ResponseWriterWrapper")
	if !embeds || len(field.Index) > 1 {
		return nil
	}
	f := v.FieldByIndex(field.Index)
	if f.Kind() == reflect.Struct && f.CanAddr() {
		f = f.Addr()
	}
	wrapper, _ := f.Interface().(*caddyhttp.ResponseWriterWrapper)
	return wrapper
}

// storedFields are the fields with which a cache would store a response, or answer for it,
// beside those with names that end in Cache-Control.
var storedFields = [...]string{"Surrogate-Control", "Edge-Control", "X-Accel-Expires", "Expires", "Etag", "Last-Modified", "Age"}

// forbidStoring is the Observer for ForbidStoring.
type forbidStoring struct{}

// Answered implements Observer.
func (forbidStoring) Answered(_ int, header http.Header) {
	for name := range header {
		if strings.HasSuffix(name, "Cache-Control") { // also CDN-Cache-Control and those of single CDNs
			delete(header, name)
		}
	}
	for _, name := range storedFields {
		delete(header, name)
	}
	header["Cache-Control"] = []string{"no-store"}
}
