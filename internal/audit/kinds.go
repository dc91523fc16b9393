package audit

import (
	"cmp"
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

// requestKind says what a request is for.
type requestKind uint8

const (
	unknownKind  requestKind = iota // nothing but the path says it
	otherKind                       // neither of the two below: data that scripts load, a prefetch
	documentKind                    // a page, or another document that somebody opens
	embeddedKind                    // a file that a page embeds: an image, a style, a script, a font
)

// kindOfMedia returns the kind of a request by the Content-Type of its response; unknownKind
// if that says nothing.
func kindOfMedia(contentType string) requestKind {
	if strings.HasPrefix(contentType, "text/html") { // most
		return documentKind
	}
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	top, sub, _ := strings.Cut(media, "/")
	switch {
	case sub == "" || sub == "octet-stream":
		return unknownKind
	case top == "image", top == "font", top == "audio", top == "video", sub == "css", strings.Contains(sub, "javascript"),
		strings.Contains(sub, "font"):
		return embeddedKind
	case sub == "xhtml+xml":
		return documentKind
	case strings.Contains(sub, "json"), strings.HasSuffix(sub, "xml"), sub == "wasm", sub == "event-stream":
		return otherKind
	}
	return documentKind
}

// hintOf returns the kind that a name extension hints at: unknownKind for that of a page, which
// says no more than none, and documentKind for any that pages don't embed.
func hintOf(ext string) requestKind {
	var lower [12]byte
	if len(ext) > len(lower) {
		return documentKind
	}
	for i := range len(ext) {
		lower[i] = ext[i]
		if 'A' <= ext[i] && ext[i] <= 'Z' {
			lower[i] |= 0x20
		}
	}
	switch string(lower[:len(ext)]) {
	case "", "html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "cgi":
		return unknownKind
	case "css", "js", "mjs", "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "woff", "woff2", "ttf", "otf", "eot",
		"mp3", "mp4", "webm", "ogg":
		return embeddedKind
	case "json", "xml", "rss", "atom", "txt", "map", "wasm", "webmanifest":
		return otherKind
	}
	return documentKind
}

// pathKinds tells documents from what they embed by the paths of requests. An extension such
// as .js or .jpg is a hint, which does not count in a folder of documents: /wiki/File:X.jpg
// and /app/blame/src/main.js are pages. A pathKinds learns which folders these are from the
// requests that it sees. Folders with the same name at the same depth of a site are one:
// /ann/app/blame/main.go says what /bob/lib/blame/main.js is.
//
// It remembers 8,192 folders, and is safe for concurrent use. It allocates memory only for
// a new folder.
type pathKinds struct {
	folders *table.Table[folder]
	seen    [1 << 14]atomic.Uint32 // hashes of the paths of files
	seed    maphash.Seed
}

// folder counts what was requested in a folder and, unless it is of the first level, below
// it: /git/ has all kinds of things below it.
type folder struct {
	pages atomic.Uint32 // requests without an extension, in the folder itself
	named atomic.Uint32 // documents with one
	files atomic.Uint32 // requests with an extension of a file
	fresh atomic.Uint32 // of files, in the folder itself, those for another file than before
	names atomic.Uint64 // hashes of minNames different extensions of named, 16 bits each
}

// When a folder has documents, whatever their extensions are.
const (
	minPages   = 16
	minNames   = 4 // different extensions
	mostly     = 4 // times as many as others
	minFiles   = 8
	maxFolders = 8 // of a path
)

// newKinds returns a pathKinds that has seen nothing.
func newKinds() *pathKinds {
	return &pathKinds{folders: table.New[folder](1 << 13), seed: maphash.MakeSeed()}
}

// see returns the kind of a request. known is what else says it, such as Sec-Fetch-Dest,
// and has precedence. With learn, the request counts for those that come later: only one
// that was answered should.
func (k *pathKinds) see(site uint64, target string, known requestKind, learn bool) requestKind {
	path, _, _ := strings.Cut(target, "?")
	slash := max(0, strings.LastIndexByte(path, '/'))
	in, ext := path[:slash], ""
	if dot := strings.LastIndexByte(path[slash:], '.'); dot >= 0 {
		ext = path[slash+dot+1:]
	}
	hint := hintOf(ext)
	isFile := hint == embeddedKind || hint == otherKind
	kind := known
	switch {
	case kind != unknownKind:
		learn = learn && hint != unknownKind // it says nothing about extensions
	case strings.HasPrefix(path, "/.well-known/"):
		return otherKind
	case !isFile, k.hasDocuments(site, in):
		kind = documentKind
	default:
		kind = hint
	}
	if learn {
		if known == unknownKind && isFile { // a guess does not count
			known = hint
		}
		if hint == unknownKind {
			ext = ""
		}
		k.learn(site, path, in, ext, cmp.Or(known, kind))
	}
	return kind
}

// key returns the key of a folder with a name at a depth.
func (k *pathKinds) key(site uint64, depth int, name string) uint64 {
	return max(1, maphash.String(k.seed, name)^site+uint64(depth)<<56)
}

// own returns the key and the depth of the folder with a path, 0 for the root.
func (k *pathKinds) own(site uint64, in string) (key uint64, depth int) {
	depth = strings.Count(in, "/")
	return k.key(site, depth, in[strings.LastIndexByte(in, '/')+1:]), depth
}

// learn counts a request in a folder. ext is "" for that of a page.
func (k *pathKinds) learn(site uint64, path, in, ext string, kind requestKind) {
	key, depth := k.own(site, in)
	own, name := k.folder(key), uint16(0)
	switch {
	case ext == "":
		own.pages.Add(1)
		return
	case kind == documentKind:
		name = uint16(maphash.String(k.seed, ext)) | 1
	default:
		hash := maphash.String(k.seed, path) ^ site
		if seen := &k.seen[hash%uint64(len(k.seen))]; seen.Load() != uint32(hash>>32) {
			seen.Store(uint32(hash >> 32))
			own.fresh.Add(1)
		}
	}
	own.add(name)
	rest := strings.TrimPrefix(in, "/")
	for i := 1; i < min(depth, maxFolders); i++ {
		var dir string
		dir, rest, _ = strings.Cut(rest, "/")
		if i > 1 {
			k.folder(k.key(site, i, dir)).add(name)
		}
	}
}

// folder returns the folder with a key. A new one takes the place of that with the fewest
// requests.
func (k *pathKinds) folder(key uint64) *folder {
	return k.folders.Add(key, func(f *folder) int64 { return int64(f.pages.Load() + f.named.Load() + f.files.Load()) }, nil)
}

// add counts a document with an extension, whose hash is name, or a file, for which it is 0.
func (f *folder) add(name uint16) {
	if name == 0 {
		f.files.Add(1)
		return
	}
	f.named.Add(1)
	names := f.names.Load()
	for at := 0; at < minNames; at++ {
		switch uint16(names >> (16 * at)) {
		case name:
			return
		case 0:
			f.names.CompareAndSwap(names, names|uint64(name)<<(16*at))
			return
		}
	}
}

// hasDocuments reports whether requests for files in a folder are for documents, as those
// for others in it or above it are.
func (k *pathKinds) hasDocuments(site uint64, in string) bool {
	key, depth := k.own(site, in)
	if own := k.folders.Get(key); own != nil {
		files, all := own.files.Load(), own.pages.Load()+own.named.Load()
		switch {
		case depth > 0 && own.isTree():
			return true
		case files >= minFiles && files >= mostly*own.fresh.Load(): // the same few, as pages embed them
			return false
		case all >= minPages && all >= mostly*files:
			return true
		}
	}
	rest := strings.TrimPrefix(in, "/")
	for i := 1; i < min(depth, maxFolders); i++ {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if f := k.folders.Get(k.key(site, i, name)); f != nil && (f.isTree() || f.named.Load() >= max(minPages, mostly*f.files.Load())) {
			return true
		}
	}
	return false
}

// isTree reports whether documents in the folder show files of many kinds.
func (f *folder) isTree() bool {
	named := f.named.Load()
	return named >= minPages && f.names.Load()>>(16*(minNames-1)) != 0 && mostly*named >= f.files.Load() &&
		2*mostly*named >= f.pages.Load()
}
