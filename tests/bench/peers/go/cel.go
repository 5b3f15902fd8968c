package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// loadCel compiles what all rules share, which must hold, and one expression for each allow rule, asked in
// turn, as a host program does that lets people write rules; in the best form it is one expression over
// tables by key. Requests, and in the best form the tables, are values of CEL beforehand.
func loadCel(w *Workload, best bool) (decider, error) {
	texts, err := celTexts(w, best)
	if err != nil {
		return nil, err
	}
	programs, err := compileCel(texts)
	if err != nil {
		return nil, err
	}
	requests, err := celRequests(w, best)
	if err != nil {
		return nil, err
	}
	shared, rules := programs[0], programs[1:]
	return func(i int) bool {
		holds := func(program cel.Program) bool {
			value, _, err := program.Eval(requests[i])
			return err == nil && value == types.True
		}
		return holds(shared) && (best || slices.ContainsFunc(rules, holds))
	}, nil
}

// celTexts begins with what must hold whichever rule allows, which is all in the best form.
func celTexts(w *Workload, best bool) ([]string, error) {
	var text struct {
		Deny   string
		Rules  []string
		Tables string `json:"B"`
	}
	if err := w.parse(w.own("_cel", ".json"), &text); err != nil {
		return nil, err
	}
	switch {
	case w.decision == "egress" && best:
		return []string{fmt.Sprintf("!(%s) && (%s)", text.Deny, text.Tables)}, nil
	case w.decision == "egress":
		return append([]string{fmt.Sprintf("!(%s)", text.Deny)}, text.Rules...), nil
	case best:
		return []string{text.Tables}, nil
	}
	return celCreate(w)
}

func celCreate(w *Workload) ([]string, error) {
	var policy struct {
		Images []string
		Teams  map[string]struct {
			CPU    int `json:"cpu"`
			Memory int `json:"mem_mb"`
			Disk   int `json:"disk_gb"`
			TTL    int `json:"ttl_s"`
		}
	}
	if err := w.parse(w.own("", ".json"), &policy); err != nil {
		return nil, err
	}
	images, err := json.Marshal(policy.Images)
	texts := []string{fmt.Sprintf("ttl_s >= 60 && image in %s", images)}
	for _, name := range slices.Sorted(maps.Keys(policy.Teams)) {
		team := policy.Teams[name]
		texts = append(texts, fmt.Sprintf(
			"sandbox.labels.team == %q && cpu <= %d && mem_mb <= %d && disk_gb <= %d && ttl_s <= %d",
			name, team.CPU, team.Memory, team.Disk, team.TTL))
	}
	return texts, err
}

func compileCel(texts []string) ([]cel.Program, error) {
	table := cel.MapType(cel.StringType, cel.DynType)
	options := []cel.EnvOption{cel.Variable("suffixes", cel.ListType(cel.StringType))}
	for _, name := range []string{"sandbox", "exact", "suffix", "blocked", "images", "teams"} {
		options = append(options, cel.Variable(name, table))
	}
	for _, name := range []string{"host", "method", "path", "image"} {
		options = append(options, cel.Variable(name, cel.StringType))
	}
	for _, name := range []string{"port", "tod", "idle_s", "token_ttl_s", "cpu", "mem_mb", "disk_gb", "ttl_s"} {
		options = append(options, cel.Variable(name, cel.IntType))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, err
	}
	programs := make([]cel.Program, len(texts))
	for i, text := range texts {
		checked, issues := env.Compile(text)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		if programs[i], err = env.Program(checked, cel.EvalOptions(cel.OptOptimize)); err != nil {
			return nil, err
		}
	}
	return programs, nil
}

// celRequests gives each request the tables too; of those, what is written as rules needs the blocked hosts.
func celRequests(w *Workload, best bool) ([]cel.Activation, error) {
	tables, err := w.text(w.own("_B_data", ".json"))
	if err != nil {
		return nil, err
	}
	shared := map[string]any{}
	if err := celMembers(tables, shared); err != nil {
		return nil, err
	}
	requests := make([]cel.Activation, len(w.Requests))
	for i, request := range w.Requests {
		variables := map[string]any{}
		for name, table := range shared {
			if best || name == "blocked" {
				variables[name] = table
			}
		}
		if err := celMembers(request, variables); err != nil {
			return nil, err
		}
		if requests[i], err = cel.NewActivation(variables); err != nil {
			return nil, err
		}
	}
	return requests, nil
}

// celMembers adds the members of a JSON object, as values of CEL.
func celMembers(text []byte, into map[string]any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return err
	}
	for name, member := range object {
		value, err := celValue(member)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		into[name] = value
	}
	return nil
}

func celValue(from any) (ref.Val, error) {
	switch from := from.(type) {
	case bool:
		return types.Bool(from), nil
	case string:
		return types.String(from), nil
	case json.Number:
		number, err := from.Int64()
		return types.Int(number), err
	case []any:
		list := make([]ref.Val, len(from))
		for i, member := range from {
			var err error
			if list[i], err = celValue(member); err != nil {
				return nil, err
			}
		}
		return types.NewRefValList(types.DefaultTypeAdapter, list), nil
	case map[string]any:
		table := make(map[ref.Val]ref.Val, len(from))
		for name, member := range from {
			value, err := celValue(member)
			if err != nil {
				return nil, err
			}
			table[types.String(name)] = value
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, table), nil
	}
	return nil, fmt.Errorf("no value of CEL is made of %T", from)
}
