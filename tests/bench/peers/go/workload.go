package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Workload is what the generator wrote for one number of rules. Requests stay text: each engine has
// its own idea of a value.
type Workload struct {
	folder   string
	count    string
	Requests []json.RawMessage `json:"reqs"`
	Expected []bool
	Rules    []Rule
	Blocked  []string
}

// Rule is an allow rule; it holds for a host and all below it if Wild is set.
type Rule struct {
	Host    string
	Wild    bool
	Port    int64
	Methods []string
	Path    string // a prefix
	Start   int64  // seconds of the day, from and up to
	End     int64
}

func readWorkload(folder, count string) (*Workload, error) {
	w := &Workload{folder: folder, count: count}
	if err := w.parse("egress_"+count+".json", w); err != nil {
		return nil, err
	}
	if len(w.Requests) == 0 || len(w.Requests) != len(w.Expected) {
		return nil, fmt.Errorf("%d requests and %d answers", len(w.Requests), len(w.Expected))
	}
	return w, nil
}

func (w *Workload) text(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(w.folder, name))
}

func (w *Workload) parse(name string, into any) error {
	text, err := w.text(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
