package main

import (
	"bytes"
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

// loadOpa prepares one query. As written, each allow rule is a rule of Rego; in the best form they are
// data, found by host. Requests are parsed beforehand.
func loadOpa(w *Workload, best bool) (decider, error) {
	ctx := context.Background()
	policy, data, err := opaSources(w, best)
	if err != nil {
		return nil, err
	}
	inputs := make([]ast.Value, len(w.Requests))
	for i, request := range w.Requests {
		if inputs[i], err = ast.ValueFromReader(bytes.NewReader(request)); err != nil {
			return nil, err
		}
	}
	store := inmem.NewFromReaderWithOpts(bytes.NewReader(data), inmem.OptReturnASTValuesOnRead(true))
	query, err := rego.New(
		rego.Query("data.egress.allow"), rego.Module("egress.rego", string(policy)), rego.Store(store),
	).PrepareForEval(ctx)
	if err != nil {
		return nil, err
	}
	return func(i int) bool {
		results, err := query.Eval(ctx, rego.EvalParsedInput(inputs[i]))
		return err == nil && results.Allowed()
	}, nil
}

func opaSources(w *Workload, best bool) (policy, data []byte, err error) {
	if !best {
		policy, err = w.text("egress_A_" + w.count + ".rego")
		return policy, []byte("{}"), err
	}
	if data, err = w.text("egress_B_data_" + w.count + ".json"); err != nil {
		return nil, nil, err
	}
	policy, err = w.text("egress_B.rego")
	return policy, data, err
}
