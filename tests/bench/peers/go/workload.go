package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Workload is what the generator wrote for one decision and one number of rules.
type Workload struct {
	folder   string
	decision string // egress or create
	rules    string
	Requests []json.RawMessage `json:"reqs"` // text: each engine has its own idea of a value
	Expected []bool
}

func readWorkload(decision, folder, rules string) (*Workload, error) {
	w := &Workload{folder: folder, decision: decision, rules: rules}
	if err := w.parse(w.own("", ".json"), w); err != nil {
		return nil, err
	}
	if len(w.Requests) == 0 || len(w.Requests) != len(w.Expected) {
		return nil, fmt.Errorf("%d requests and %d answers", len(w.Requests), len(w.Expected))
	}
	return w, nil
}

// own is the name of a file for this decision and number of rules: egress_cel_100.json.
func (w *Workload) own(kind, suffix string) string {
	return w.decision + kind + "_" + w.rules + suffix
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
