// Package wire counts what a client of Kubernetes sends, and disturbs its watches.
package wire

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
)

// Wire stands between one client and its server. It may be used by several goroutines.
type Wire struct {
	// WatchSeconds, if not zero, is the timeout that every watch asks for instead of the client's own.
	WatchSeconds int

	mutex   sync.Mutex
	counts  map[string]int
	watches map[*stream]struct{}
	expire  bool
}

// RoundTripper fits rest.Config.WrapTransport.
func (w *Wire) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		kind := kindOf(request)
		if kind == "watch" || kind == "watch-list" {
			request = w.changed(request)
		}
		w.count(kind)
		response, err := next.RoundTrip(request)
		if err != nil {
			w.count(kind + " without an answer")
			return response, err
		}
		w.count(kind + " " + strconv.Itoa(response.StatusCode))
		if request.URL.Query().Get("watch") == "true" && response.StatusCode == http.StatusOK {
			response.Body = w.followed(response.Body)
		}
		return response, nil
	})
}

// Counts returns how many requests there were of each kind ("list", "list from cache", "watch", "watch-list",
// "get", "put", ...), and of each kind with each status ("watch 200", "list without an answer").
func (w *Wire) Counts() map[string]int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return maps.Clone(w.counts)
}

// Watches returns how many watches are open.
func (w *Wire) Watches() int { return len(w.open()) }

// Cut ends every watch that is open, as the server's timeout does.
func (w *Wire) Cut() {
	for _, watch := range w.open() {
		watch.cut()
	}
}

// Expire ends every watch that is open, and lets the next one ask for versions that are long gone.
func (w *Wire) Expire() {
	w.mutex.Lock()
	w.expire = true
	w.mutex.Unlock()
	w.Cut()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func kindOf(request *http.Request) string {
	query := request.URL.Query()
	switch {
	case request.Method != http.MethodGet:
		return request.Method
	case query.Get("watch") == "true" && query.Get("sendInitialEvents") == "true":
		return "watch-list"
	case query.Get("watch") == "true":
		return "watch"
	case query.Has("labelSelector"):
		return "list"
	default:
		return "get"
	}
}

// changed returns the request of a watch as the server shall see it.
func (w *Wire) changed(request *http.Request) *http.Request {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	changed := request.Clone(request.Context())
	query := changed.URL.Query()
	if w.WatchSeconds > 0 {
		query.Set("timeoutSeconds", strconv.Itoa(w.WatchSeconds))
	}
	if version := query.Get("resourceVersion"); w.expire && version != "" {
		query.Set("resourceVersion", ancient(version))
		w.expire = false
	}
	changed.URL.RawQuery = query.Encode()
	return changed
}

// ancient returns the composite version in which each cluster of the given one is at its first.
func ancient(version string) string {
	clusters := map[string]string{}
	text, err := base64.RawURLEncoding.DecodeString(version)
	if err != nil || json.Unmarshal(text, &clusters) != nil {
		return "1"
	}
	for cluster := range clusters {
		clusters[cluster] = "1"
	}
	text, _ = json.Marshal(clusters)
	return base64.RawURLEncoding.EncodeToString(text)
}

func (w *Wire) count(kind string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.counts == nil {
		w.counts = map[string]int{}
	}
	w.counts[kind]++
}

func (w *Wire) followed(body io.ReadCloser) *stream {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.watches == nil {
		w.watches = map[*stream]struct{}{}
	}
	watch := &stream{body: body, wire: w}
	w.watches[watch] = struct{}{}
	return watch
}

func (w *Wire) open() []*stream {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var watches []*stream
	for watch := range w.watches {
		watches = append(watches, watch)
	}
	return watches
}

// stream is the body of a watch.
type stream struct {
	body  io.ReadCloser
	wire  *Wire
	mutex sync.Mutex
	ended bool
}

func (s *stream) Read(into []byte) (int, error) {
	n, err := s.body.Read(into)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.ended {
		return 0, io.EOF
	}
	return n, err
}

func (s *stream) Close() error {
	s.wire.mutex.Lock()
	delete(s.wire.watches, s)
	s.wire.mutex.Unlock()
	return s.body.Close()
}

func (s *stream) cut() {
	s.mutex.Lock()
	s.ended = true
	s.mutex.Unlock()
	s.Close()
}
